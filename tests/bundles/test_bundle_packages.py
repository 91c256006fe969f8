import gzip
import io
import json
import os
import sys
import tarfile
import textwrap
import time
import zipfile
from pathlib import Path

import pytest

from helpers.sample_bundle import FILES, CountingProgress, as_digest, digest_of, sample_manifest
from polyvox.bundles import packages
from polyvox.bundles.cache import DownloadCache
from polyvox.bundles.manifest import NpmSource, PackageSource, PypiSource
from polyvox.bundles.packages import fetch_from_package
from polyvox.bundles.sources import FetchContext, RequestedFile, SourceUnavailableError

INTERPRETER = sys.executable
NAMES = ("voices/one.bin", "voices/two.bin")


def tarball(members: dict[str, bytes] | None = None, *, extra: list[tarfile.TarInfo] | None = None) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for info in extra or []:
            tar.addfile(info)
        for name, content in (members or {f"package/{name}": FILES[name] for name in NAMES}).items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def wheel(members: dict[str, bytes] | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (members or {f"package/{name}": FILES[name] for name in NAMES}).items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def npm_source(archive: bytes) -> NpmSource:
    source = {"kind": "npm", "package": "@some/voices", "version": "1.2.3", "paths": {"voices/": "package/voices/"}}
    return NpmSource.model_validate(source | {"archive": digest_of(archive)})


def pypi_source(archive: bytes) -> PypiSource:
    source = {"kind": "pypi", "package": "some-voices", "version": "1.2.3", "paths": {"voices/": "package/voices/"}}
    return PypiSource.model_validate(source | {"archive": digest_of(archive)})


@pytest.fixture
def context(tmp_path: Path) -> FetchContext:
    return FetchContext(
        DownloadCache(tmp_path / "cache"), tmp_path / "scratch", CountingProgress(), "http://127.0.0.1:9"
    )


class FakeClient:
    """A program in the place of npm or Python that notes its arguments and then does as told."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir()
        self.program = folder / name
        self._calls = folder / "calls"
        self._payload = folder / "payload"

    def behave(self, script: str, payload: bytes = b"") -> None:
        self._payload.write_bytes(payload)
        head = f"""\
            #!{INTERPRETER}
            import json, os, pathlib, shutil, subprocess, sys, time
            with open({str(self._calls)!r}, "a") as calls:
                calls.write(json.dumps({{"arguments": sys.argv[1:], "pid": os.getpid()}}) + "\\n")
            payload = {str(self._payload)!r}
            options = dict(part.removeprefix("--").split("=", 1) for part in sys.argv if "=" in part)
            """
        self.program.write_text(textwrap.dedent(head) + textwrap.dedent(script))
        self.program.chmod(0o755)

    def deliver(self, payload: bytes) -> None:
        self.behave('shutil.copy(payload, options.get("pack-destination") or options["dest"])', payload)

    @property
    def calls(self) -> list[dict]:
        return [json.loads(line) for line in self._calls.read_text().splitlines()] if self._calls.exists() else []


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    client = FakeClient(tmp_path / "npm", "npm")
    monkeypatch.setenv("PATH", str(client.program.parent))
    return client


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    client = FakeClient(tmp_path / "pip", "python")
    client.deliver(wheel())
    monkeypatch.setattr(packages.sys, "executable", str(client.program))
    return client


def fetch(source: PackageSource, context: FetchContext) -> dict[str, bytes | None]:
    specs = sample_manifest().files
    wanted = tuple(RequestedFile(name, source.path_of(name) or "", specs[name].published) for name in NAMES)
    fetch_from_package(source, wanted, context)
    found = {name: context.cache.find(specs[name].published) for name in NAMES}
    return {name: path.read_bytes() if path else None for name, path in found.items()}


WHOLE = {name: FILES[name] for name in NAMES}


def test_files_come_out_of_an_npm_package(context, npm):
    npm.deliver(tarball())
    assert fetch(npm_source(tarball()), context) == WHOLE


def test_npm_is_told_not_to_run_anything_of_the_package(context, npm):
    npm.deliver(tarball())
    fetch(npm_source(tarball()), context)
    (call,) = npm.calls
    assert call["arguments"][:2] == ["pack", "@some/voices@1.2.3"]
    assert "--ignore-scripts" in call["arguments"]


def test_files_come_out_of_a_wheel(context, pip):
    assert fetch(pypi_source(wheel()), context) == WHOLE


def test_pip_is_told_to_take_a_wheel_and_nothing_else(context, pip):
    fetch(pypi_source(wheel()), context)
    (call,) = pip.calls
    assert call["arguments"][:3] == ["-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:"} <= set(call["arguments"])
    assert call["arguments"][-1] == "some-voices==1.2.3"


def test_pip_is_told_which_wheel_is_meant_where_they_differ_by_machine(context, pip):
    tags = {"python": "3.11", "platform": "manylinux_2_28_x86_64"}
    source = PypiSource.model_validate(pypi_source(wheel()).model_dump() | {"wheel": tags})
    assert fetch(source, context) == WHOLE
    (call,) = pip.calls
    asked = {"--only-binary=:all:", "--python-version=3.11", "--platform=manylinux_2_28_x86_64"}
    assert asked <= set(call["arguments"])


def test_an_archive_that_is_already_here_is_not_fetched_again(context, npm):
    archive = tarball()
    digest = as_digest(archive)
    context.cache.part(digest).write_bytes(archive)
    context.cache.commit(context.cache.part(digest), (digest,))
    assert fetch(npm_source(archive), context) == WHOLE
    assert npm.calls == []


def test_an_archive_with_another_hash_is_not_opened(context, npm):
    npm.deliver(tarball() + b"x")
    with pytest.raises(SourceUnavailableError, match="not the one this release was made for"):
        fetch(npm_source(tarball()), context)


def test_a_client_that_leaves_nothing_is_no_source(context, npm):
    npm.behave("")
    with pytest.raises(SourceUnavailableError, match="not the one this release was made for"):
        fetch(npm_source(tarball()), context)


def test_without_npm_the_reason_is_given(context, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceUnavailableError, match="npm client is not installed"):
        fetch(npm_source(tarball()), context)


def test_without_pip_the_reason_is_given(context, monkeypatch):
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SourceUnavailableError, match="pip is not installed"):
        fetch(pypi_source(wheel()), context)


def test_what_a_failing_client_says_is_passed_on(context, npm):
    npm.behave('sys.exit("npm error code E404\\nnpm error not found")')
    with pytest.raises(SourceUnavailableError, match="the client failed: npm error code E404 npm error not found"):
        fetch(npm_source(tarball()), context)


def test_a_client_that_cannot_be_started_is_no_source(context, npm):
    npm.program.write_text("#!/nowhere/at/all\n")
    npm.program.chmod(0o755)
    with pytest.raises(SourceUnavailableError, match="cannot be started"):
        fetch(npm_source(tarball()), context)


@pytest.mark.long
def test_a_client_that_stalls_is_stopped(context, npm, monkeypatch):
    monkeypatch.setattr(packages, "_STALL_SECONDS", 0.3)
    npm.behave("time.sleep(60)")
    began = time.monotonic()
    with pytest.raises(SourceUnavailableError, match="nothing arrived"):
        fetch(npm_source(tarball()), context)
    assert time.monotonic() - began < 10
    with pytest.raises(ProcessLookupError):
        os.kill(npm.calls[0]["pid"], 0)


@pytest.mark.long
def test_a_client_that_is_slow_but_moves_is_left_alone(context, npm, monkeypatch):
    monkeypatch.setattr(packages, "_STALL_SECONDS", 0.6)
    monkeypatch.setattr(packages, "_POLL_SECONDS", 0.05)
    grow = """\
        for count in range(1, 7):
            pathlib.Path(options["cache"], "growing").write_bytes(b"x" * count * 1000)
            time.sleep(0.25)
        shutil.copy(payload, options["pack-destination"])
        """
    npm.behave(grow, tarball())
    assert fetch(npm_source(tarball()), context) == WHOLE


def test_the_watcher_sees_the_archive_and_then_the_files(context, npm):
    npm.deliver(tarball())
    fetch(npm_source(tarball()), context)
    assert context.progress.tasks == [
        ("Fetching npm @some/voices@1.2.3", len(tarball())),
        ("Unpacking npm @some/voices@1.2.3", sum(len(content) for content in WHOLE.values())),
    ]
    assert context.progress.done == [total for _, total in context.progress.tasks]


def _link(name: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


def test_links_and_foreign_names_in_an_archive_are_passed_over(context, npm, tmp_path):
    members = {"../../escaped": b"x", "/escaped": b"x", **{f"package/{name}": FILES[name] for name in NAMES}}
    archive = tarball(members, extra=[_link("package/voices/one.bin", "/etc/passwd")])
    npm.deliver(archive)
    assert fetch(npm_source(archive), context) == WHOLE
    assert list(tmp_path.rglob("escaped")) == []


@pytest.mark.parametrize("content", [b"short", FILES["voices/one.bin"] + b"x" * 5_000_000])
def test_a_member_with_another_content_is_left_to_the_next_source(context, npm, content):
    archive = tarball({"package/voices/one.bin": content, "package/voices/two.bin": FILES["voices/two.bin"]})
    npm.deliver(archive)
    assert fetch(npm_source(archive), context) == WHOLE | {"voices/one.bin": None}
    assert context.progress.done[-1] <= sum(len(data) for data in WHOLE.values()) + 1


@pytest.mark.parametrize("kind", ["npm", "pypi"])
def test_a_member_that_is_not_there_is_left_to_the_next_source(context, npm, pip, kind):
    members = {"package/voices/two.bin": FILES["voices/two.bin"]}
    archive = tarball(members) if kind == "npm" else wheel(members)
    (npm if kind == "npm" else pip).deliver(archive)
    source = npm_source(archive) if kind == "npm" else pypi_source(archive)
    assert fetch(source, context) == WHOLE | {"voices/one.bin": None}
