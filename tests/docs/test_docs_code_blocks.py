"""Every code block of README, CONTRIBUTING and docs/ is run, or checked where running it would take too long.

Python blocks run. Of the shell blocks `curl`, `python` and the quick `polyvox` commands run; of the others the names
and options are checked. A block that cannot run here says why: `<!-- not run: reason -->` directly above it.
"""

import json
import os
import re
import shutil
import subprocess
import tomllib
import wave
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import polyvox
from helpers.documented_server import SMALL_DECODER, documented_server
from helpers.documents import PAGES, ROOT, Block, Command, blocks, commands, indented_blocks, page_name
from helpers.fork_server import fork_server
from helpers.processes import ProgramProcess
from helpers.tables import each_row
from polyvox.audio.decode import decode
from polyvox.bundles.manifest import manifest_named
from polyvox.bundles.validate import Bundle
from polyvox.cli.main import app
from polyvox.installation import settings_loader

ALL = [block for page in PAGES for block in blocks(page)]
LANGUAGES = {"python", "sh", "json", "yaml", "toml", "text", "js"}
NOT_RUN = 29
"""Blocks that carry a reason for not being run. More of them should be a decision."""

CHECKED = {"serve", "mcp", "book", "pull", "bench", "eval", "models", "keys", "--help"}
"""Commands of `polyvox` that take too long, go to the network, need a screen or lock others out: only their options are
checked."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def chosen(*languages: str) -> list[Block]:
    return [block for block in ALL if block.language in languages and block.not_run is None]


each = partial(each_row, "block")


# --- every block


def test_every_block_names_its_language() -> None:
    assert {block.where: block.language for block in ALL if block.language not in LANGUAGES} == {}


def test_no_block_is_set_by_indentation() -> None:
    found = [f"{page_name(page)}:{line}" for page in PAGES for line in indented_blocks(page)]
    assert found == []


def test_a_block_that_is_not_run_says_why() -> None:
    reasons = {block.where: block.not_run for block in ALL if block.not_run is not None}
    assert [where for where, reason in reasons.items() if len(reason.split()) < 2] == []
    assert len(reasons) == NOT_RUN, "\n".join(f"{where}: {reason}" for where, reason in reasons.items())


# --- data


@each(chosen("json"))
def test_json_is_valid(block: Block) -> None:
    for line in block.text.strip().split("\n\n"):
        json.loads(line)


@each(chosen("yaml"))
def test_yaml_is_accepted_as_settings(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "polyvox.yaml").write_text(block.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLYVOX_CONFIG", raising=False)
    settings = settings_loader().load()
    assert len(yaml.safe_load(block.text)) > 0
    assert settings.model_fields_set


@each(chosen("toml"))
def test_toml_is_valid(block: Block) -> None:
    assert tomllib.loads(block.text)


# --- commands that are only checked


@each([block for block in ALL if block.language == "python"])
def test_python_compiles(block: Block) -> None:
    compile(block.text, block.where, "exec")


@pytest.mark.long
@each([block for block in ALL if block.language == "sh"])
def test_the_commands_exist_with_their_options(block: Block) -> None:
    for command in commands(block.text):
        check_variables(command)
        match command.words:
            case ("make", *targets):
                check_targets(targets)
            case ("sudo", *words):
                assert [
                    word for word in words if word.startswith(("deploy/", "scripts/")) and not (ROOT / word).exists()
                ] == []
            case ("pip", *words):
                check_pip(words)
            case ("polyvox", *words):
                check_polyvox(words)
            case ("python", "-m", module, *_) if module.startswith("benchmarks."):
                check_benchmark(module, command)
            case (
                "curl"
                | "python"
                | "pre-commit"
                | "ray"
                | "serve"
                | "openssl"
                | "mkdir"
                | "printf"
                | "chmod"
                | "git"
                | "spd-say"
                | "cd",
                *_,
            ):
                pass  # programs that are not ours
            case ("docker" | "helm" | "kubectl", *words):
                assert [word for word in words if word.startswith("deploy/") and not (ROOT / word).exists()] == []
            case _:
                pytest.fail(f"{block.where}: nothing here knows the command {command.words!r}")


def check_variables(command: Command) -> None:
    known = {f"POLYVOX_{name.upper()}" for name in settings_loader().names()} | {"POLYVOX_CONFIG", "POLYVOX_URL"}
    assert {name for name in command.variables if name.startswith("POLYVOX_")} <= known


def check_targets(targets: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets
    for target in targets:
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), f"make {target} is not in the Makefile"


def check_pip(words: list[str]) -> None:
    """What pip installs is this checkout, a wheel that was built from it, or a package that is published."""
    assert words[0] in ("install", "wheel"), words
    for word in words[1:]:
        path, _, extras = word.removesuffix("]").partition("[")
        assert path != "polyvox", "no release of polyvox is in a package index"
        assert set(filter(None, extras.split(","))) <= set(PROJECT["optional-dependencies"]), word
        if path.endswith(".whl"):
            assert Path(path).name == f"polyvox-{polyvox.__version__}-py3-none-any.whl"
        elif path.startswith("."):
            assert (ROOT / path / "pyproject.toml").is_file(), path


def check_polyvox(words: list[str]) -> None:
    """The parser takes the options and arguments; what follows `--help` is not looked at."""
    plain = [word for word in words if word != "--help"]
    result = CliRunner().invoke(app, [*plain, "--help"])
    assert result.exit_code == 0, result.output
    if plain[:1] == ["pull"]:
        assert manifest_named(plain[1]).name == plain[1]


def check_benchmark(module: str, command: Command) -> None:
    source = (ROOT / module.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")
    assert [option for option in command.options if option != "-m" and f'"{option}"' not in source] == []


def test_no_line_joins_a_command_that_runs_with_one_that_is_only_checked() -> None:
    for block in chosen("sh"):
        lines: dict[str, set[bool]] = {}
        for command in commands(block.text):
            lines.setdefault(command.text, set()).add(runnable(command))
        assert [line for line, both in lines.items() if len(both) > 1] == [], block.where


# --- what is run


@pytest.fixture(scope="module")
def server(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with documented_server(models_dir, tmp_path_factory.mktemp("voices"), SMALL_DECODER) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with the files that the documents speak of."""
    for source, names in {
        "librivox_a": ("anna", "sample", "voice", "talk", "jenny"),
        "librivox_b": ("other",),
    }.items():
        pcm, rate = decode((ROOT / f"tests/recordings/{source}.flac").read_bytes(), max_seconds=60, max_samples=10**7)
        for name in names:
            with wave.open(str(tmp_path / f"{name}.wav"), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(rate)
                file.writeframes((pcm.reshape(-1) * 32767).astype("<i2").tobytes())
    (tmp_path / "talk.txt").write_text("af_heart: Ready?\nam_michael: Nearly,\n  yes.\n")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.fixture
def environment(folder: Path, models_dir: Path, installed: Callable[[str], Bundle]) -> dict[str, str]:
    """`python` and `polyvox` are the tested ones, and `curl` fails where the server answers with an error."""
    installed("campplus")  # a page compares voices
    programs = folder / ".programs"
    programs.mkdir()
    curl = programs / "curl"
    curl.write_text(f'#!/bin/sh\nexec "{shutil.which("curl")}" --fail-with-body "$@"\n')
    curl.chmod(0o755)
    return {
        **os.environ,
        **SMALL_DECODER,
        "PATH": os.pathsep.join((str(programs), str(fork_server().programs), os.environ["PATH"])),
        "POLYVOX_DATA_DIR": str(folder / ".voices"),
        "POLYVOX_MODELS_DIR": str(models_dir),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def runs(block: Block) -> bool:
    return block.language == "python" or any(map(runnable, commands(block.text)))


def runnable(command: Command) -> bool:
    match command.words:
        case ("polyvox", first, *_):
            return first not in CHECKED
        case ("python", "-m", module, *_):
            return not module.startswith("benchmarks.")
        case ("curl" | "python", *_):
            return True
    return False


ONCE = {block.text: block for block in reversed(chosen("python", "sh")) if runs(block)}
"""Blocks that run, by their text: what two pages show alike runs for the first."""

RUN = {page: found for page in PAGES if (found := [b for b in ONCE.values() if b.page == page][::-1])}


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=map(page_name, RUN))
def test_the_blocks_of_a_page_run_in_order(
    page: Path, folder: Path, environment: dict[str, str], server: ProgramProcess
) -> None:
    for block in RUN[page]:
        program = ["python", "-c"] if block.language == "python" else ["bash", "-euo", "pipefail", "-c"]
        text = (
            block.text
            if block.language == "python"
            else "".join(dict.fromkeys(command.text for command in commands(block.text) if runnable(command)))
        )
        done = subprocess.run(
            [*program, addressed(text, server)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{block.where}\n{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    check_audio(folder)


def addressed(text: str, server: ProgramProcess) -> str:
    """The text with the addresses of the running server in place of the documented ones."""
    text = re.sub(r"http://127\.0\.0\.1:(8880|50000)", server.url, text).replace(".venv/bin/", "")
    return text.replace("127.0.0.1:50000", server.grpc)


def check_audio(folder: Path) -> None:
    """What was written is there, and is audio where its name says so."""
    for file in folder.iterdir():
        if file.is_file():
            assert file.stat().st_size > 0, file.name
        if file.suffix in (".mp3", ".wav", ".flac"):
            pcm, rate = decode(file.read_bytes(), max_seconds=120, max_samples=10**8)
            assert len(pcm) > 0.3 * rate, file.name
            assert abs(pcm).max() > 0.01, file.name
