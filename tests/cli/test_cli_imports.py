"""Commands import only what they are asked for: a budget in modules, which no load of the machine changes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.scripted_server import ScriptedServer
from polyvox.api.dialect_settings import DIALECT_SETTINGS

# Runs the command and prints the modules that it took, on a line of their own behind whatever the command printed.
PROGRAM = """
import sys
from polyvox.cli.main import app
try:
    app(sys.argv[1:], prog_name="polyvox")
except SystemExit as end:
    assert not end.code, end.code
print("\\n" + " ".join(sys.modules))
"""
HEAVY = frozenset(
    "av fastapi fugashi grpc httpx huggingface_hub jieba mcp numpy onnx onnxruntime pypinyin starlette structlog torch "
    "uvicorn polyvox.api.doors polyvox.service.speech polyvox.text.normalize.ms "
    "polyvox.text.phonemes.english.phonemizer".split()
)


def modules_of(program: str, *arguments: str, folder: Path) -> set[str]:
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, cwd=folder, timeout=120
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.long
@pytest.mark.parametrize("command", ["--help", "languages", "models", "config"])
def test_a_command_that_looks_something_up_imports_nothing_heavy(command: str, tmp_path: Path) -> None:
    modules = modules_of(PROGRAM, command, folder=tmp_path)
    assert "polyvox.cli.main" in modules
    assert not modules & HEAVY


@pytest.mark.long
def test_a_server_speaks_for_a_command_that_imports_no_engine_and_no_service(
    scripted_server: ScriptedServer, tmp_path: Path
) -> None:
    scripted_server.pieces["Hello."] = [(0.0, 0.5)]
    options = ("--server", scripted_server.url, "-o", "hello.wav")
    modules = modules_of(PROGRAM, "say", "Hello.", *options, folder=tmp_path)
    assert (tmp_path / "hello.wav").stat().st_size == 44 + 8_000
    assert modules & HEAVY == {"httpx", "numpy"}
    assert "polyvox.engines.catalog" not in modules


@pytest.mark.long
def test_an_agents_host_is_answered_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    asked = "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method}) + "\n"
        for number, method in enumerate(["initialize", "tools/list"])
    )
    command = [sys.executable, "-c", PROGRAM, "mcp", "--server", "http://127.0.0.1:9"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=120)
    modules = set(done.stdout.splitlines()[-1].split())
    assert not modules & HEAVY
    assert "polyvox.engines.catalog" not in modules


def test_what_speaks_in_a_process_of_its_own_loads_no_ffmpeg_no_onnx_and_no_colours(tmp_path: Path) -> None:
    program = """
import sys
from polyvox.cli.slim_structlog import slim_structlog
with slim_structlog():
    import polyvox.screen_reader.service_synthesizer
import polyvox.engines.kokoro.engine, polyvox.engines.kokoro.wren.loading
print(" ".join(sys.modules))
import rich
"""
    modules = modules_of(program, folder=tmp_path)
    assert {"onnxruntime", "structlog"} <= modules
    assert not modules & {"av", "onnx", "rich"}


def test_the_package_imports_nothing_but_its_errors(tmp_path: Path) -> None:
    modules = modules_of('import sys, polyvox; print(" ".join(sys.modules))', folder=tmp_path)
    assert {name for name in modules if name.startswith("polyvox")} == {"polyvox", "polyvox.errors"}
    assert not modules & {"pydantic", "typer", "numpy"}


def test_settings_are_read_without_the_doors_and_are_those_of_the_doors() -> None:
    from polyvox.api.doors import DOORS

    brought = [(door.settings, door.foreign) for door in DOORS if door.settings or door.foreign]
    assert [(each.settings, each.foreign) for each in DIALECT_SETTINGS] == brought
