"""Renders a Helm chart with Helm's own engine, and checks every resource against its published schema.

Arguments: the chart, the folder of custom resources' schemas, and a JSON file of `values`, a list of values to render
with, and `manifests`, a list of YAML files to check as they are. For each of them the result has `resources` and
`faults`, or what Helm said when it refused (`refused`).
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helm_python
import jsonschema
import kubernetes_validate
import yaml

VERSIONS = ("1.30.0", "1.37.0")
"""The oldest Kubernetes that the chart names, and the newest whose schemas are there."""

Manifest = dict[str, Any]


def faults(resource: Manifest, custom: Path) -> list[str]:
    """What is wrong with a resource; a field that its schema does not know is wrong."""
    schema = custom / f"{resource['kind'].lower()}.json"
    if not schema.is_file():
        return [fault for version in VERSIONS for fault in kubernetes_faults(resource, version)]
    checker = jsonschema.Draft202012Validator(json.loads(schema.read_text()))
    found = [f"{'.'.join(map(str, error.path))}: {error.message[:200]}" for error in checker.iter_errors(resource)]
    if resource["kind"] == "RayService":
        found += [fault for pod in pods(resource) for version in VERSIONS for fault in kubernetes_faults(pod, version)]
    return found


def pods(service: Manifest) -> Iterator[Manifest]:
    """The pods of a RayService, as resources that Kubernetes knows."""
    cluster = service["spec"]["rayClusterConfig"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        yield {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "ray"}, "template": group["template"]}


def kubernetes_faults(resource: Manifest, version: str) -> list[str]:
    try:
        kubernetes_validate.validate(resource, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{version}: {'.'.join(map(str, error.path))}: {error.message[:200]}"]
    except kubernetes_validate.SchemaNotFoundError as error:
        return [error.message]
    return []


def checked(text: str, custom: Path) -> dict[str, Any]:
    resources = [resource for resource in yaml.safe_load_all(text) if resource]
    return {
        "resources": resources,
        "faults": [f"{each['kind']}: {fault}" for each in resources for fault in faults(each, custom)],
    }


def rendered(chart: helm_python.Chart, values: dict[str, Any], custom: Path) -> dict[str, Any]:
    try:
        chart.validate_schema(values)
        files = chart.render(values, name="speech", namespace="tts")
    except helm_python.HelmError as error:
        return {"refused": str(error)}
    notes = next((text for name, text in files.items() if name.endswith("NOTES.txt")), "")
    manifests = [text for name, text in sorted(files.items()) if name.endswith(".yaml") and text.strip()]
    return {**checked("\n---\n".join(manifests), custom), "notes": notes}


def main(chart_folder: str, custom_folder: str, cases_file: str) -> None:
    custom, cases = Path(custom_folder), json.loads(Path(cases_file).read_text())
    with helm_python.Chart.load(chart_folder) as chart:
        values = [rendered(chart, each, custom) for each in cases["values"]]
    manifests = [checked(Path(file).read_text(), custom) for file in cases["manifests"]]
    lint = helm_python.lint(chart_folder, cases["values"][0], strict=True)
    print(json.dumps({"values": values, "manifests": manifests, "lint": lint, "helm": helm_python.helm_sdk_version()}))


main(*sys.argv[1:])
