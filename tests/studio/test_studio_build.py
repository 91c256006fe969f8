"""The Studio's built files are those that its source makes."""

import gzip
import hashlib
import subprocess
from pathlib import Path

import pytest

from helpers import web_package
from helpers.studio_tools import STUDIO, installed_packages, run_npm
from polyvox.api.dialects.studio import files

BUILT = Path(files.__file__).parent / "static"
DEVICE = BUILT.parent / "device"
SOURCES = ("index.html", "package-lock.json", "package.json", "src", "tsconfig.json", "vite.config.js")


def sources_hash() -> str:
    """The same as the build's own: SHA-256 over names and contents."""
    found = {STUDIO / name for name in SOURCES if (STUDIO / name).is_file()} | {
        path for path in (STUDIO / "src").rglob("*") if path.is_file()
    }
    hashed = hashlib.sha256()
    for name in sorted(path.relative_to(STUDIO).as_posix() for path in found):
        hashed.update(f"{name}\0".encode() + (STUDIO / name).read_bytes() + b"\0")
    return hashed.hexdigest()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_build_was_made_from_these_sources() -> None:
    stamp = (BUILT / "sources.sha256").read_text(encoding="utf-8").strip()
    assert stamp == sources_hash(), "run: cd studio && npm ci && npm run build"


def test_the_browser_package_beside_it_was_made_from_these_sources() -> None:
    stamp = (DEVICE / "sources.sha256").read_text(encoding="utf-8").strip()
    assert stamp == web_package.sources_hash(), "run: cd web && npm ci && npm run studio"


def test_nothing_in_the_lock_file_names_a_registry() -> None:
    assert '"resolved"' not in (STUDIO / "package-lock.json").read_text(encoding="utf-8")


def test_the_built_page_is_small_enough_for_a_phone() -> None:
    assert sum(len(asset.compressed) for asset in files.assets().values()) < 150_000


@pytest.mark.slow
def test_building_again_gives_the_same_bytes(tmp_path: Path) -> None:
    installed_packages()
    done = run_npm("run", "build", "--", "--outDir", str(tmp_path / "static"), "--emptyOutDir")
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "static") == contents(BUILT)


@pytest.mark.slow
def test_packing_the_browser_package_again_gives_the_same_files(tmp_path: Path) -> None:
    packed = contents(web_package.packed_for_studio(tmp_path))
    assert {name: unpacked(data) for name, data in packed.items()} == {
        name: unpacked(data) for name, data in contents(DEVICE).items()
    }


def unpacked(data: bytes) -> bytes:
    """A file as it is without gzip, whose output differs between its versions."""
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


@pytest.mark.slow
def test_the_source_passes_the_strict_type_check() -> None:
    installed_packages()
    done: subprocess.CompletedProcess[str] = run_npm("run", "check")
    assert done.returncode == 0, done.stdout
