"""Write what an image holds as a CycloneDX 1.6 document: Python packages, Debian packages, models.

Only the standard library: it runs while the image is built, in the environment that it lists.
"""

import argparse
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from urllib.parse import quote

DPKG_STATUS = Path("/var/lib/dpkg/status")

Component = dict[str, Any]


def python_packages() -> Iterator[Component]:
    """Every distribution of this environment."""
    for package in sorted(distributions(), key=lambda package: package.name.lower()):
        name = package.name.lower().replace("_", "-")
        reference = f"pkg:pypi/{quote(name)}@{quote(package.version)}"
        yield {
            "type": "library",
            "bom-ref": reference,
            "name": package.name,
            "version": package.version,
            "purl": reference,
            **_licences(package),
        }


def _licences(package: Distribution) -> Component:
    """The licence as its makers state it: an SPDX expression, else the classifiers, else a short free text."""
    expression = package.metadata["License-Expression"]
    if expression:
        return {"licenses": [{"expression": expression}]}
    classifiers = package.metadata.get_all("Classifier") or []
    names = [line.rsplit(" :: ", 1)[1] for line in classifiers if line.startswith("License :: ") and " :: " in line]
    free = (package.metadata["License"] or "").strip()
    if not names and free and len(free) < 100 and "\n" not in free:
        names = [free]
    return {"licenses": [{"license": {"name": name}} for name in dict.fromkeys(names)]} if names else {}


def debian_packages(status: Path = DPKG_STATUS) -> Iterator[Component]:
    """Every installed package of the base image; none where the base is not Debian."""
    if not status.is_file():
        return
    for paragraph in status.read_text().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " ")
        if fields.get("Status", "").endswith(" installed"):
            name, version, machine = fields["Package"], fields["Version"], fields["Architecture"]
            reference = f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch={machine}"
            yield {"type": "library", "bom-ref": reference, "name": name, "version": version, "purl": reference}


def models(folder: Path) -> Iterator[Component]:
    """Every file of the models that are part of the image, with its hash as it was checked when it was installed."""
    for record in sorted(folder.glob("*/bundle.json")):
        bundle = json.loads(record.read_text())
        for name, file in sorted(bundle["files"].items()):
            yield {
                "type": "machine-learning-model",
                "bom-ref": f"model:{bundle['name']}/{name}",
                "name": f"{bundle['name']}/{name}",
                "version": bundle["version"],
                "hashes": [{"alg": "SHA-256", "content": file["sha256"]}],
            }


def document(models_folder: Path) -> dict[str, Any]:
    """The whole document."""
    components = [*python_packages(), *debian_packages(), *models(models_folder)]
    product = next(component for component in components if component["name"] == "polyvox")
    unique = {component["bom-ref"]: component for component in components if component is not product}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "component": product | {"type": "application"},
        },
        "components": list(unique.values()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True, help="folder of the image's models")
    parser.add_argument("--output", type=Path, required=True, help="file to write")
    arguments = parser.parse_args()
    arguments.output.write_text(json.dumps(document(arguments.models), indent=1) + "\n")


if __name__ == "__main__":
    main()
