"""Make a release in out/release: `make release`, or `make release TAG=v1.2.3` on the commit with that tag.

| file | made by |
|---|---|
| polyvox-VERSION-py3-none-any.whl, polyvox-VERSION.tar.gz | build; both name their commit |
| polyvox-VERSION.tgz | Helm's own packaging of deploy/helm/polyvox |
| polyvox-VERSION-image-cpu.tar | docker, else buildah; left out where neither can be used |
| polyvox-VERSION.cdx.json | CycloneDX, of an environment with the wheel and the extras of the image |
| NOTES.md, SHA256SUMS | the changelog; the sums of all other files |
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from datetime import UTC, datetime
from pathlib import Path

from release_notes import ROOT, Release, ReleaseError, this_release

OUT = ROOT / "out" / "release"
PACKAGE_CHART = "import sys, helm_python; print(helm_python.package(sys.argv[1], destination=sys.argv[2]))"
MISSING_EXTRAS = (
    "from polyvox.extras import EXTRAS; print(*(e.name for e in EXTRAS if 'cpu' in e.images and not e.installed))"
)
IMAGE_EXTRAS = "from polyvox.extras import EXTRAS; print(','.join(e.name for e in EXTRAS if 'cpu' in e.images))"


def run(*command: str | Path, **options: object) -> str:
    """Run a command and return what it prints; what it complains of is seen."""
    words = [str(word) for word in command]
    print("+", *words, file=sys.stderr, flush=True)
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def build_packages(out: Path) -> Path:
    """Write the source archive, and the wheel that is built from it; returns the wheel."""
    made_at = run("git", "-C", ROOT, "log", "-1", "--format=%ct")
    environment = os.environ | {"SOURCE_DATE_EPOCH": made_at}
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, env=environment)
    [wheel] = out.glob("*.whl")
    return wheel


def package_chart(out: Path, charts_python: Path) -> Path:
    """Write the chart's archive."""
    return Path(run(charts_python, "-c", PACKAGE_CHART, ROOT / "deploy/helm/polyvox", out))


def list_components(wheel: Path, release: Release, out: Path) -> Path:
    """Install the wheel with the extras of the image, check that it says what it is, and write the SBOM of that."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
        run(*pip, wheel)
        run(*pip, f"{wheel}[{run(python, '-c', IMAGE_EXTRAS, cwd=folder)}]")
        if missing := run(python, "-c", MISSING_EXTRAS, cwd=folder):
            raise ReleaseError(f"The extras {missing} do not bring the modules that polyvox/extras.py names.")
        said = run(Path(folder) / "bin" / "polyvox", "--version", cwd=folder)
        if said != f"polyvox {release.version} ({release.commit})":
            raise ReleaseError(f"The installed wheel says {said!r}, not version {release.version} of {release.commit}.")
        file = out / f"polyvox-{release.version}.cdx.json"
        made = ("--output-reproducible", "--output-format", "JSON", "--output-file", file)
        run(sys.executable, "-m", "cyclonedx_py", "environment", "--pyproject", ROOT / "pyproject.toml", *made, python)
        return file


def archive_image(release: Release, out: Path) -> str:
    """Write the archive of the image for CPUs; returns why it could not be written."""
    file, tag = out / f"polyvox-{release.version}-image-cpu.tar", f"polyvox:{release.version}-cpu"
    if shutil.which("docker") and not subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        labels = {
            "VERSION": release.version,
            "REVISION": release.commit,
            "CREATED": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        arguments = [f"--build-arg={name}={value}" for name, value in labels.items()]
        run("docker", "build", "--target=cpu", *arguments, f"--tag={tag}", ROOT)
        run("docker", "save", "--output", file, tag)
        return ""
    if shutil.which("buildah") and shutil.which("mmdebstrap") and os.geteuid() == 0:
        run(sys.executable, ROOT / "scripts/build_image.py", "--target=cpu", f"--tag=localhost/{tag}")
        run("buildah", "push", f"localhost/{tag}", f"docker-archive:{file}:{tag}")
        return ""
    return "There is no docker whose daemon answers, and no buildah with mmdebstrap and root."


def write_notes(release: Release, out: Path, left_out: str) -> None:
    """Write the changelog's part with what the release lacks, and the sums of all files."""
    lacking = f"\nThe image's archive is not part of it. {left_out}\n" if left_out else ""
    (out / "NOTES.md").write_text(f"# {release.title}\n\nCommit {release.commit}.\n{lacking}\n{release.changes}\n")
    files = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS")
    (out / "SHA256SUMS").write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in files))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make(release: Release, charts_python: Path, *, image: bool, out: Path = OUT) -> None:
    """Make all files anew."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    list_components(build_packages(out), release, out)
    package_chart(out, charts_python)
    left_out = archive_image(release, out) if image else "It was not asked for."
    write_notes(release, out, left_out)
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.relative_to(ROOT)}")
    if left_out:
        print(f"No image: {left_out}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", default="", help="the tag of this commit; without it, a snapshot is made")
    parser.add_argument("--charts-python", type=Path, required=True, help="a Python with helm-python-sdk")
    parser.add_argument("--image", choices=("yes", "no"), default="yes", help="whether the image is built")
    arguments = parser.parse_args()
    try:
        make(this_release(arguments.tag), arguments.charts_python, image=arguments.image == "yes")
    except ReleaseError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
