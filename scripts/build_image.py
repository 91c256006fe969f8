"""Build an image of the Dockerfile where no registry can be reached: `python scripts/build_image.py --target cpu`.

The base is made by mmdebstrap from Debian's own packages, and buildah executes the Dockerfile on it without a daemon,
in a chroot. Both come by `apt-get install mmdebstrap buildah`, and want root. This machine's settings of pip and npm,
with the local folders and certificates they name, are there while the image is built, and leave nothing in it.
"""

import argparse
import configparser
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUITE = "bookworm"
BASE = f"localhost/polyvox-base:{SUITE}"
PACKAGES = ("ca-certificates", "python3", "python3-venv")
UNREAD = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*")
"""Files that nobody reads in an image; images named slim leave them out, too."""


def run(*command: str | Path, **options: object) -> str:
    """Run a command and return what it prints; what it complains of is seen."""
    words = [str(word) for word in command]
    print("+", *words, file=sys.stderr, flush=True)
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def make_base(again: bool) -> None:
    """Debian with Python and nothing else, as a local image."""
    known = subprocess.run(["buildah", "inspect", "--type", "image", BASE], capture_output=True, check=False)
    if known.returncode == 0 and not again:
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "base.tar"
        excluded = [f"--dpkgopt=path-exclude={pattern}" for pattern in UNREAD]
        run("mmdebstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", *excluded, SUITE, tree)
        container = run("buildah", "from", "scratch")
        run("buildah", "add", container, tree, "/")
        run("buildah", "commit", "--rm", container, BASE)


def pip_settings() -> dict[str, str]:
    """What pip is told here by files and environment together; the environment goes first, as for pip itself."""
    lines = run(sys.executable, "-m", "pip", "config", "list").splitlines()
    found: dict[str, str] = {}
    for section in ("global.", "user.", "site.", "install.", ":env:."):
        for line in lines:
            key, _, value = line.partition("=")
            if key.startswith(section):
                found[key.removeprefix(section)] = value.strip("'")
    return found


def local_paths(values: Mapping[str, str]) -> set[Path]:
    """Absolute paths that exist here among the values: folders of wheels, indexes as `file://`, certificates."""
    words = {word.removeprefix("file://") for value in values.values() for word in value.split()}
    paths = {Path(word) for word in words if word.startswith("/")}
    return {path.parent if path.name == "simple" else path for path in paths if path.exists()}


@contextlib.contextmanager
def pip_secret() -> Iterator[tuple[list[str], set[Path]]]:
    """The build's option for pip's settings, and the local paths that they name."""
    settings = pip_settings()
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        parser = configparser.ConfigParser(interpolation=None)
        parser["global"] = settings
        parser.write(file)
        file.flush()
        yield [f"--secret=id=pip.conf,src={file.name}"], local_paths(settings)


@contextlib.contextmanager
def npm_mounts() -> Iterator[list[str]]:
    """Node, npm and their settings: `polyvox pull` wants npm where it cannot reach a hub."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        yield []
        return
    program = Path(npm).resolve()
    package = next(folder for folder in program.parents if folder.name == "npm")
    settings = [path for path in (Path("/etc/npmrc"), Path("/usr/etc/npmrc"), Path.home() / ".npmrc") if path.exists()]
    with tempfile.TemporaryDirectory() as folder:
        launcher = Path(folder) / "npm"
        launcher.write_text(f'#!/bin/sh\nexec {node} {program} "$@"\n')
        launcher.chmod(0o755)
        yield [*map(mounted, (Path(node), package, *settings)), f"--volume={launcher}:/usr/bin/npm:ro"]


def mounted(path: Path) -> str:
    """The build's option to see a path of this machine at the same place."""
    return f"--volume={path}:{path}:ro"


def version() -> str:
    text = (ROOT / "src/polyvox/__init__.py").read_text()
    return re.findall(r'__version__ = "([^"]+)"', text)[0]


def build(target: str, tag: str) -> None:
    """Execute the Dockerfile up to a target."""
    labels = {
        "BASE_IMAGE": BASE,
        "VERSION": version(),
        "REVISION": run("git", "-C", ROOT, "rev-parse", "HEAD"),
        "CREATED": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with pip_secret() as (secret, pip_paths), npm_mounts() as npm:
        mounts = [*map(mounted, sorted(pip_paths)), *npm]
        arguments = [f"--build-arg={name}={value}" for name, value in labels.items()]
        # HEALTHCHECK is a field of Docker's image format; OCI's has none.
        options = ["--isolation=chroot", "--format=docker", "--network=host", "--layers"]
        run("buildah", "build", *options, *secret, *mounts, *arguments, f"--target={target}", f"--tag={tag}", ROOT)


def unpacked_bytes(tag: str) -> int:
    """Size of the image's files."""
    container = run("buildah", "from", "--pull-never", tag)
    try:
        tree = run("buildah", "mount", container)
        return int(run("du", "--summarize", "--bytes", "--one-file-system", tree).split()[0])
    finally:
        run("buildah", "rm", container)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--tag", help="name of the image; localhost/polyvox:TARGET unless given")
    parser.add_argument("--new-base", action="store_true", help="make the base anew, with today's packages")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("Building in a chroot wants root; run this with sudo, or in a container of its own.")
    for program in ("buildah", "mmdebstrap"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing; apt-get install {program}.")
    tag = arguments.tag or f"localhost/polyvox:{arguments.target}"
    make_base(arguments.new_base)
    build(arguments.target, tag)
    print(f"{tag}: {unpacked_bytes(tag) / 1e6:.0f} MB unpacked")


if __name__ == "__main__":
    main()
