"""Hostile recordings, names and addresses at the doors, with the real intake: all refused, and the server speaks on."""

import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path

import httpx
import pytest

from helpers.cloning import CloneEngine
from helpers.fakes import tone_service
from helpers.hostile import BROKEN, NOT_AUDIO, SPEECH, TOO_LONG, USELESS
from helpers.serving import called
from polyvox.service.voices.voices import VoiceService

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

NAMES = [
    "../../../etc/cron.d/voice",
    "..\\..\\voice",
    "/etc/passwd",
    "nul\0byte",
    "\u202egnp.exe",
    "\u2066isolated",
    "zero\u200bwidth",
    "x" * 10_000,
    "e" + "\u0301" * 10_000,
    "\x1b[2Jclear",
    "url+https://host.example/",
    "con\r\nSet-Cookie: x=1",
]
ADDRESSES = [
    "https://127.0.0.1/a.wav",
    "https://localhost/a.wav",
    "https://[::1]/a.wav",
    "https://[::ffff:127.0.0.1]/a.wav",
    "https://169.254.169.254/latest/meta-data/",
    "https://2130706433/a.wav",
    "https://0x7f000001/a.wav",
    "https://10.0.0.1/a.wav",
    "http://93.184.215.14/a.wav",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "https://user:word@127.0.0.1/a.wav",
    "https://" + "a" * 5_000,
    "not an address",
]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where anything could be written without a path of its own: temporary files, the home."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    for name in ("TMPDIR", "HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.chdir(folder)
    return folder


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def sent(client: httpx.AsyncClient, door: int, name: str, data: bytes) -> Awaitable[httpx.Response]:
    """A recording, through one of the doors that take them."""
    if door == 0:
        return client.post("/v1/voices", data={"name": name, "transcript": "x"}, files={"audio": ("a.wav", data)})
    if door == 1:
        form = {"name": name, "transcription": "x"}
        return client.post("/v1/zipvoice/voices/register", data=form, files={"audio_file": ("a.wav", data)})
    form = {"input": "Hello.", "voice": f"file+{name[:20]}", "prompt_text": "x", "model": "tone"}
    return client.post("/v1/zipvoice/audio/speech", data=form, files={"prompt_wav_file": ("a.wav", data)})


def some_files() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Files of all kinds; the tests of the intake, which is behind every door, give it each one there is."""
    for kind in (NOT_AUDIO, BROKEN, TOO_LONG, USELESS):
        yield from islice(kind.items(), 0, None, max(1, len(kind) // 6))


def attacks(client: httpx.AsyncClient) -> Iterator[tuple[str, Awaitable[httpx.Response]]]:
    """Everything hostile, each sent when it is asked for."""
    for number, (what, data) in enumerate(some_files()):
        yield what, sent(client, number % 3, f"voice {number}", data())
    for number, name in enumerate(NAMES):
        yield repr(name), sent(client, number % 2, name, SPEECH)
    for address in ADDRESSES:
        body = {"input": "Hello.", "voice": f"url+{address}", "prompt_text": "x"}
        yield address, client.post("/v1/audio/speech", json=body)


async def test_everything_hostile_is_refused_and_the_server_speaks_on(tmp_path: Path, scratch: Path) -> None:
    models_dir = tmp_path / "models"
    service = tone_service(CloneEngine(), data_dir=tmp_path / "data", models_dir=models_dir, allow_fetch=True)
    voices = VoiceService.for_service(service)
    refusals: dict[str, int] = {}
    seconds: dict[str, float] = {}
    async with called(service, voices, timeout=60) as client:
        await voices.start()
        good = await client.post("/v1/voices", data={"name": "good", "transcript": "x"}, files={"audio": ("a", SPEECH)})
        assert good.status_code == 201, good.text
        for what, attack in attacks(client):
            began = time.monotonic()
            response = await attack
            seconds[what] = time.monotonic() - began
            refusals[what] = response.status_code
            assert str(tmp_path) not in response.text, what
        spoken = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": "good"})
        listed = (await client.get("/v1/voices")).json()["data"]
        await voices.close()

    assert len(refusals) >= 50
    assert {what: status for what, status in refusals.items() if not 400 <= status < 500} == {}
    assert {what: took for what, took in seconds.items() if took >= 5.0} == {}
    assert spoken.status_code == 200
    assert [voice["name"] for voice in listed] == ["good"]
    names = sorted(path.suffix or path.name for path in files_in(tmp_path))
    assert names == [".json", ".sqlite", ".sqlite3", ".wav", "in-use", "reserve", "store-id"]
    # one voice, its side-car, and the record of its consent
    assert files_in(scratch) == []
