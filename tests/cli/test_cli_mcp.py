"""`polyvox mcp`: the user's loudspeaker and folder, a model that loads meanwhile, a server elsewhere."""

import asyncio
import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.agent_engine import ENDED, AgentEngine
from helpers.cloning import Studio, sample
from helpers.fakes import ToneEngine, missing_bundle, tone_catalog, tone_settings
from helpers.serving import decoded_seconds, served
from polyvox.api.dialects.mcp.backend import McpBackend
from polyvox.api.dialects.mcp.tool_result import ToolResult
from polyvox.api.dialects.mcp.tools import SpeechTools, ToolLimits
from polyvox.cli.main import app
from polyvox.cli.mcp import stdio as mcp_stdio
from polyvox.cli.mcp.local_backend import StartingBackend
from polyvox.cli.mcp.machine import UserMachine
from polyvox.cli.mcp.remote_backend import RemoteBackend
from polyvox.engines.catalog import Catalog
from polyvox.errors import NotFoundError, PolyvoxError

LIMITS = ToolLimits(max_chars=20, max_audio_bytes=100_000, max_recording_bytes=64)
TESTS = Path(__file__).parents[1]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ToneEngine:
    """The only model is an engine that hums."""
    humming = ToneEngine()
    monkeypatch.setattr(Catalog, "installed", lambda: tone_catalog(humming))
    return humming


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that alone is searched for programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "agent"
    made.mkdir()
    return made.resolve()


async def called(backend: McpBackend, machine: UserMachine, tool: str, **arguments: object) -> ToolResult:
    return await SpeechTools(LIMITS, machine).call(tool, arguments, backend)


def call(folder: Path | None, tool: str, **arguments: object) -> ToolResult:
    async def run() -> ToolResult:
        async with StartingBackend(tone_settings()) as backend:
            return await called(backend, UserMachine(folder), tool, **arguments)

    return asyncio.run(run())


def words(result: ToolResult) -> str:
    return result.content[0]["text"]


def test_speech_is_played_one_after_the_other(engine: ToneEngine, programs: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    player = programs / "aplay"
    player.write_text(
        f"#!{sys.executable}\nimport sys\nnotes = open({str(notes)!r}, 'a', buffering=1)\nprint('begin', file=notes)\n"
        "data = sys.stdin.buffer.read()\nprint(len(data), file=notes)\n"
    )
    player.chmod(0o755)

    async def play_two() -> list[ToolResult]:
        async with StartingBackend(tone_settings()) as backend:
            machine = UserMachine(None)
            speeches = [called(backend, machine, "speak", text="A text longer than 20.", play=True) for _ in range(2)]
            return await asyncio.gather(*speeches)

    assert [words(result) for result in asyncio.run(play_two())] == ["Played.", "Played."]
    assert notes.read_text().split() == ["begin", "14400", "begin", "14400"]


def test_without_a_player_the_agent_is_told_to_do_without(engine: ToneEngine, programs: Path) -> None:
    result = call(None, "speak", text="One.", play=True)
    assert result.is_error
    assert words(result).endswith("leave out 'play' to get the audio.")


def test_a_long_text_is_refused_with_the_ways_out_and_written_to_the_folder(engine: ToneEngine, folder: Path) -> None:
    text = "A text longer than 20."
    refused = call(folder, "speak", text=text)
    assert refused.is_error
    assert words(refused) == (
        "The text has 22 characters, and the audio of at most 20 is returned; speak it in parts, or set 'play' to "
        "true, or set 'save' to true."
    )
    written = call(folder, "speak", text=text, save=True, format="wav")
    (file,) = folder.iterdir()
    assert words(written) == f"Written to {file}."
    assert file.suffix == ".wav"
    assert decoded_seconds(file.read_bytes()) == pytest.approx(0.3)


def test_without_a_folder_nothing_can_be_saved(engine: ToneEngine) -> None:
    result = call(None, "speak", text="One.", save=True)
    assert words(result).startswith("'save' is not an argument of this tool")


def test_one_thing_at_a_time(engine: ToneEngine, folder: Path) -> None:
    assert words(call(folder, "speak", text="One.", save=True, play=True)) == "Set 'play' or 'save', not both."
    assert words(call(folder, "clone", name="A", audio="AA", file="a", consent=True)) == (
        "Give 'audio' or 'file', not both."
    )


def test_a_recording_is_read_from_the_folder(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "anna.wav").write_bytes(b"sound")
    machine = UserMachine(folder)
    assert asyncio.run(machine.read("inner/anna.wav", 5)) == b"sound"
    assert asyncio.run(machine.read(str(folder / "inner" / "anna.wav"), 5)) == b"sound"
    with pytest.raises(PolyvoxError, match="4 bytes"):
        asyncio.run(machine.read("inner/anna.wav", 4))


@pytest.mark.parametrize(
    "name",
    ["../secret", "/etc/passwd", "link", "inner/../../secret", "linked/secret", "pipe", "", ".", "\0", "x" * 5_000],
)
def test_nothing_else_is_read(folder: Path, name: str) -> None:
    (folder.parent / "secret").write_text("secret")
    (folder / "link").symlink_to(folder.parent / "secret")
    (folder / "linked").symlink_to(folder.parent)
    os.mkfifo(folder / "pipe")
    with pytest.raises(PolyvoxError, match=str(folder)):
        asyncio.run(asyncio.wait_for(UserMachine(folder).read(name, 100), 5))


def test_a_model_that_is_missing_is_named_until_it_is_there(engine: ToneEngine) -> None:
    engine.start_error = missing_bundle()

    async def run() -> tuple[ToolResult, ToolResult]:
        async with StartingBackend(tone_settings()) as backend:
            machine = UserMachine(None)
            before = await called(backend, machine, "speak", text="One.")
            engine.start_error = None
            return before, await called(backend, machine, "speak", text="One.")

    before, after = asyncio.run(run())
    assert before.is_error
    assert "polyvox pull tone" in words(before)
    assert not after.is_error


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    studio = Studio(tmp_path / "voices", AgentEngine(), api_keys=["a key"])
    with served(studio.speech, studio.voices) as url:
        yield url


def test_a_server_elsewhere_speaks_lists_and_clones(server: str, folder: Path) -> None:
    async def run() -> None:
        machine = UserMachine(folder)
        (folder / "anna.wav").write_bytes(sample(1))
        async with RemoteBackend(server, "a key", None) as backend:
            spoken = await called(backend, machine, "speak", text="One two three.", voice="high", format="wav", speed=2)
            assert decoded_seconds(base64.b64decode(spoken.content[0]["data"])) == pytest.approx(0.15)
            refused = await called(backend, machine, "speak", text="One.", voice="nobody")
            assert words(refused).startswith("There is no voice 'nobody'; use one of low, high, ")
            cloned = await called(backend, machine, "clone", name="Anna", file="anna.wav", consent=True, language="en")
            assert cloned.structured["name"] == "Anna"
            listed = await called(backend, machine, "voices", query="anna")
            assert [voice["id"] for voice in listed.structured["voices"]] == [cloned.structured["id"]]

    asyncio.run(run())


def test_a_server_that_wants_a_key_or_is_not_there_says_so(server: str) -> None:
    async def run(url: str) -> list[str]:
        async with RemoteBackend(url, None, None) as backend:
            calls = [("speak", {"text": "One."}), ("voices", {})]
            return [words(await called(backend, UserMachine(None), tool, **given)) for tool, given in calls]

    assert all("POLYVOX_API_KEY" in said for said in asyncio.run(run(server)))
    assert all("No server answers" in said for said in asyncio.run(run("http://127.0.0.1:1")))


def test_there_are_three_tools(engine: ToneEngine) -> None:
    with pytest.raises(NotFoundError, match="speak, voices or clone"):
        call(None, "sing")


@pytest.mark.long
def test_standard_output_holds_the_protocol_and_nothing_else(tmp_path: Path) -> None:
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "speak", "arguments": {"text": "One."}}},
    ]
    environment = {
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
        "HOME": str(tmp_path),
        "POLYVOX_MODELS": "tone",
        "POLYVOX_DEFAULT_MODEL": "tone",
        "POLYVOX_DEFAULT_VOICE": "low",
        ENDED: str(tmp_path / "ended"),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "helpers.agent_engine"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        process.stdin.write("not a message\n" + "".join(json.dumps(message) + "\n" for message in messages))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.stdout.read() == ""
        assert "talkative" in process.stderr.read()
        assert process.wait(30) == 0
    assert [answer["id"] for answer in answers] == [0, 1]
    assert answers[1]["result"]["content"][0]["type"] == "audio"


def test_an_interrupt_ends_the_process_though_a_thread_waits_for_a_message(
    engine: ToneEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    async def serve_stdio(*arguments: object) -> None:
        seen.append(signal.getsignal(signal.SIGINT))

    monkeypatch.setattr(mcp_stdio, "serve_stdio", serve_stdio)
    handler = signal.getsignal(signal.SIGINT)
    try:
        result = CliRunner().invoke(app, ["mcp"])
    finally:
        signal.signal(signal.SIGINT, handler)
    assert (result.exit_code, seen) == (0, [signal.SIG_DFL])


def test_what_cannot_work_is_one_line_before_anything_starts(tmp_path: Path) -> None:
    mistakes = {
        ("--folder", str(tmp_path / "absent")): "is not a folder",
        ("--server", "127.0.0.1:8880"): "is not a server's address",
    }
    for options, answer in mistakes.items():
        result = CliRunner().invoke(app, ["mcp", *options])
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
        assert answer in result.stderr
