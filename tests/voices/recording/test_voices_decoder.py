import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import hostile
from helpers.vowels import vowels
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, encode
from polyvox.audio.resample import resampled
from polyvox.config import Settings
from polyvox.errors import AudioDecodeError, RequestTooLargeError, UnavailableError
from polyvox.forked_child import ForkedChild, ForkServer
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recording import decoder
from polyvox.voices.recording.decode_child import READY, REFUSAL, REPLY, SAMPLES
from polyvox.voices.recording.decoder import decode_bounded

pytestmark = pytest.mark.anyio

RATE = 24_000
# Short enough for a pipe to take it whole, so that a child that does not listen is not waited for.
SPEECH = encode(vowels(1.0, 8_000), AudioFormat.WAV, 8_000)
LIMITS = PromptLimits(max_bytes=1_000_000, min_seconds=1.0, max_seconds=10.0)
KINDS = [kind for kind in AudioFormat if kind is not AudioFormat.PCM]


class Children:
    """Counts the children that are forked, and can put others in their place."""

    def __init__(self, odd: ForkServer) -> None:
        self.script: str | None = None
        self.started: list[ForkedChild] = []
        self._real, self._odd = decoder.FORKS, odd

    async def fork(self, cpu_seconds: int) -> ForkedChild:
        if self.script is None:
            child = await self._real.fork(cpu_seconds)
        else:
            child = await self._odd.fork(len(self.script))
            child.stdin.write(self.script.encode())
        self.started.append(child)
        return child


ODD = f"""
import os, sys, time
from polyvox.fork_server import serve
def run(size):
    script = sys.stdin.buffer.read(size)
    out = sys.stdout.buffer
    out.write({READY!r}); out.flush()
    exec(script)
    out.flush()
serve(run)
"""


@pytest.fixture(scope="module")
def odd() -> Iterator[ForkServer]:
    """Forks children that run the script that they are given."""
    server = ForkServer(sys.executable, "-I", "-c", ODD)
    yield server
    server.close()


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch, odd: ForkServer) -> Iterator[Children]:
    """After the test, none of them may be left."""
    children = Children(odd)
    monkeypatch.setattr(decoder, "FORKS", children)
    yield children
    assert all(child.has_ended for child in children.started)


def noted(note: Path) -> int:
    return int(note.read_text())


async def ends_soon(pid: int) -> bool:
    """Whether a killed process ends, for which a loaded machine needs a moment."""
    for _ in range(100):
        if not is_alive(pid):
            return True
        await asyncio.sleep(0.02)
    return False


def is_alive(pid: int) -> bool:
    """Whether a process still runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
async def test_every_format_decodes_as_it_does_in_process(children: Children, kind: AudioFormat) -> None:
    data = encode(vowels(1.5, RATE), kind, RATE)
    expected, expected_rate = decode(data, max_seconds=10, max_samples=1_000_000)
    pcm, rate = await decode_bounded(data, LIMITS)
    assert rate == expected_rate
    np.testing.assert_array_equal(pcm, expected)
    assert len(children.started) == 1


async def test_stereo_stays_stereo() -> None:
    pcm, _ = await decode_bounded(encode(hostile.flipped_stereo(), AudioFormat.FLAC, RATE), LIMITS)
    assert pcm.shape == (3 * RATE, 2)
    np.testing.assert_allclose(pcm[:, 0], -pcm[:, 1])


async def test_a_recording_to_transcribe_arrives_mono_at_the_rate_of_the_recognisers() -> None:
    limits = PromptLimits.for_listening(Settings(listen_max_seconds=4.0))
    speech = np.stack([vowels(3.0, RATE)] * 2, axis=1)
    pcm, rate = await decode_bounded(encode(speech, AudioFormat.FLAC, RATE), limits)
    assert (rate, pcm.shape) == (16_000, (3 * 16_000,))
    np.testing.assert_allclose(pcm[8_000:-8_000], resampled(vowels(3.0, RATE), RATE, 16_000)[8_000:-8_000], atol=1e-3)
    with pytest.raises(AudioDecodeError, match="longer than 4 seconds; send at most 4 seconds"):
        await decode_bounded(hostile.flac_of_silence(5), limits)


async def test_the_sound_of_a_film_is_read() -> None:
    pcm, rate = await decode_bounded(hostile.film("aac"), LIMITS)
    assert (rate, pcm.ndim) == (48_000, 1)


@pytest.mark.parametrize("make", hostile.NOT_AUDIO.values(), ids=hostile.NOT_AUDIO)
async def test_what_is_no_audio_by_its_first_bytes_meets_no_decoder(children: Children, make) -> None:
    with pytest.raises(AudioDecodeError, match="send "):
        await decode_bounded(make(), LIMITS)
    assert children.started == []


async def test_more_bytes_than_allowed_meet_no_decoder(children: Children) -> None:
    with pytest.raises(RequestTooLargeError, match="1000000 bytes"):
        await decode_bounded(hostile.wav(bytes(1_000_000)), LIMITS)
    assert children.started == []


async def test_a_refusal_reaches_the_caller_in_its_own_words() -> None:
    with pytest.raises(AudioDecodeError, match="longer than 10 seconds; send one of 1 to 10 seconds"):
        await decode_bounded(hostile.flac_of_silence(60), LIMITS)


CONFINED = """
import os, socket, sys
from polyvox.voices.recording.decode_child import confine, warm_up
warm_up()
confine(3)
def attempt(what, deed):
    try:
        deed()
    except (OSError, MemoryError) as error:
        print(what, "is refused")
    else:
        print(what, "went through")
attempt("reading a file", lambda: open("/etc/hostname"))
attempt("writing a file", lambda: open(sys.argv[1], "w"))
attempt("writing to an open file", lambda: os.write(int(sys.argv[2]), b"x"))
attempt("a connection", lambda: socket.socket())
attempt("300 MB", lambda: bytearray(300_000_000))
attempt("100 MB", lambda: bytearray(100_000_000))
"""


@pytest.mark.long
def test_the_child_can_reach_nothing_and_take_little(tmp_path: Path) -> None:
    with (tmp_path / "open").open("wb") as file:
        done = subprocess.run(
            [sys.executable, "-I", "-c", CONFINED, str(tmp_path / "new"), str(file.fileno())],
            pass_fds=[file.fileno()],
            capture_output=True,
            text=True,
            check=True,
        )
    said = done.stdout.splitlines()
    assert [line for line in said if "refused" not in line] == ["100 MB went through"]
    assert len(said) == 6
    assert [(path.name, path.stat().st_size) for path in tmp_path.iterdir()] == [("open", 0)]


@pytest.mark.slow
def test_the_child_has_seconds_of_processor_time() -> None:
    busy = "from polyvox.voices.recording.decode_child import confine\nconfine(3)\nwhile True: pass"
    done = subprocess.run([sys.executable, "-I", "-c", busy], timeout=60, check=False)
    assert done.returncode < 0


def children_of(pid: int) -> list[int]:
    return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def environment_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


async def test_the_child_inherits_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYVOX_API_KEYS", "a-secret-key")
    server = ForkServer(*decoder.FORKS.command, environment=decoder.FORKS.environment)
    monkeypatch.setattr(decoder, "FORKS", server)
    async with decoder._child(3):
        (child,) = children_of(server.pid)
        environment = environment_of(child)
    assert not is_alive(child)
    server.close()
    assert b"OPENBLAS" in environment
    assert b"secret" not in environment


ODD_REPLIES = {
    "dies": "sys.exit(1)",
    "kills itself": "os.kill(os.getpid(), 9)",
    "closes its ends": "os.close(0); os.close(1); time.sleep(60)",
    "breaks off": f"out.write({REPLY.pack(SAMPLES, RATE, 1, 4_000)!r} + bytes(100))",
    "promises too much": f"out.write({REPLY.pack(SAMPLES, RATE, 1, 1 << 40)!r}); out.flush(); time.sleep(60)",
    "gives no samples": f"out.write({REPLY.pack(SAMPLES, RATE, 1, 0)!r})",
    "cuts a sample": f"out.write({REPLY.pack(SAMPLES, RATE, 2, 12)!r} + bytes(12))",
    "has no channel": f"out.write({REPLY.pack(SAMPLES, RATE, 0, 4)!r} + bytes(4))",
    "has many channels": f"out.write({REPLY.pack(SAMPLES, RATE, 255, 1020)!r} + bytes(1020))",
    "has an absurd rate": f"out.write({REPLY.pack(SAMPLES, 1, 1, 4)!r} + bytes(4))",
    "gives NaN samples": f"out.write({REPLY.pack(SAMPLES, RATE, 1, 4)!r} + b'\\0\\0\\xc0\\x7f')",
    "gives samples beyond full scale": f"out.write({REPLY.pack(SAMPLES, RATE, 1, 4)!r} + b'\\0\\0\\0\\x41')",
    "says something else": f"out.write({REPLY.pack(9, RATE, 1, 4)!r} + bytes(4))",
    "refuses at length": f"out.write({REPLY.pack(REFUSAL, 0, 0, 1 << 30)!r})\nwhile True: out.write(bytes(1 << 16))",
    "never stops talking": "while True: out.write(bytes(1 << 16))",
}


@pytest.mark.long
@pytest.mark.parametrize("script", ODD_REPLIES.values(), ids=ODD_REPLIES)
async def test_a_child_that_was_taken_over_is_not_believed(children: Children, script: str) -> None:
    children.script = script
    with pytest.raises(AudioDecodeError, match="cannot be decoded"):
        await decode_bounded(SPEECH, LIMITS)


@pytest.mark.long
async def test_a_child_that_hangs_is_stopped_with_all_it_started(children: Children, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    children.script = (
        "import subprocess; from pathlib import Path\n"
        f"Path({str(note)!r}).write_text(str(subprocess.Popen(['sleep', '60']).pid)); time.sleep(60)"
    )
    with pytest.raises(AudioDecodeError, match="too long to decode"):
        await decode_bounded(SPEECH, replace(LIMITS, cpu_seconds=0))
    assert await ends_soon(noted(note))


@pytest.mark.alone
async def test_what_a_child_leaves_running_is_not_waited_for(
    children: Children, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(decoder, "_ENDING_SECONDS", 0.3)
    monkeypatch.setattr(decoder, "_WAITING_SECONDS", 0.3)
    children.script = "if os.fork(): sys.exit(1)\nos.setsid(); time.sleep(2)"
    started = time.monotonic()
    with pytest.raises(AudioDecodeError):
        await decode_bounded(SPEECH, replace(LIMITS, cpu_seconds=0))
    assert time.monotonic() - started < 1.8
    assert "left something running" in caplog.text
    await asyncio.sleep(2)


@pytest.mark.long
async def test_whoever_gives_up_waiting_leaves_no_child_behind(children: Children) -> None:
    children.script = "time.sleep(60)"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(decode_bounded(SPEECH, LIMITS), 0.5)
    assert len(children.started) == 1


async def test_a_decoder_that_does_not_start_is_the_servers_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "FORKS", ForkServer("/bin/false"))
    with pytest.raises(UnavailableError, match="did not start"):
        await decode_bounded(SPEECH, LIMITS)
    monkeypatch.setattr(decoder, "FORKS", ForkServer("/nowhere/python"))
    with pytest.raises(UnavailableError, match="cannot be started"):
        await decode_bounded(SPEECH, LIMITS)
