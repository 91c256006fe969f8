"""Where speech goes: files that appear whole, streams, and players that really run."""

import asyncio
import io
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, FileEncoder
from polyvox.audio.pcm import from_pcm16
from polyvox.cli.speech import output as output_module
from polyvox.cli.speech.output import FileOutput, LoudspeakerOutput, Output, OutputAudio, PipeOutput, output_for
from polyvox.errors import InvalidRequestError, PolyvoxError, UnavailableError, UnknownFormatError
from polyvox.types import Pcm

RATE = 24_000
TONE = (0.3 * np.sin(2 * np.pi * 220 * np.arange(RATE) / RATE)).astype(np.float32)


async def halves(pcm: Pcm = TONE) -> AsyncIterator[Pcm]:
    middle = len(pcm) // 2
    yield pcm[:middle]
    yield pcm[middle:]


async def breaking_off() -> AsyncIterator[Pcm]:
    yield TONE
    raise PolyvoxError("It broke off.")


def take(output: Output, pieces: AsyncIterator[Pcm]) -> None:
    asyncio.run(output.consume(OutputAudio(RATE, 1, pieces)))


def fake_player(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def only_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that alone is searched for programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.mp3", AudioFormat.MP3), ("a.WAV", AudioFormat.WAV), ("a.ogg", AudioFormat.OPUS), ("a.webm", AudioFormat.WEBM)],
)
def test_the_ending_names_the_format(tmp_path: Path, name: str, expected: AudioFormat) -> None:
    assert output_for(str(tmp_path / name), None) == FileOutput(tmp_path / name, expected)


def test_an_explicit_format_wins(tmp_path: Path) -> None:
    assert output_for(str(tmp_path / "a.bin"), "flac") == FileOutput(tmp_path / "a.bin", AudioFormat.FLAC)


def test_what_cannot_be_written_is_refused_before_anything_is_spoken(tmp_path: Path) -> None:
    for place in (str(tmp_path / "speech"), str(tmp_path), str(tmp_path / "absent" / "a.mp3")):
        with pytest.raises(InvalidRequestError):
            output_for(place, None)
    with pytest.raises(UnknownFormatError):
        output_for(str(tmp_path / "a.docx"), None)
    with pytest.raises(UnknownFormatError):
        output_for(str(tmp_path / "a.mp3"), "docx")


def test_a_file_holds_the_speech_and_nothing_else_is_left(tmp_path: Path) -> None:
    take(FileOutput(tmp_path / "a.wav", AudioFormat.WAV), halves())
    pcm, rate = decode((tmp_path / "a.wav").read_bytes(), max_seconds=10, max_samples=10 * RATE)
    assert rate == RATE
    np.testing.assert_allclose(pcm, TONE, atol=1e-4)
    assert [path.name for path in tmp_path.iterdir()] == ["a.wav"]


def test_speech_that_breaks_off_leaves_what_was_there_before(tmp_path: Path) -> None:
    target = tmp_path / "a.wav"
    target.write_bytes(b"before")
    with pytest.raises(PolyvoxError, match="broke off"):
        take(FileOutput(target, AudioFormat.WAV), breaking_off())
    assert target.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.wav"]


def test_an_interrupted_file_is_closed_only_when_its_encoder_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding, events = threading.Event(), list[str]()

    class SlowEncoder(FileEncoder):
        def encode(self, pcm: Pcm) -> None:
            encoding.set()
            time.sleep(0.2)
            events.append("encoded")

        def close(self) -> None:
            events.append("closed")
            super().close()

    monkeypatch.setattr(output_module, "FileEncoder", SlowEncoder)

    async def interrupt() -> None:
        audio = OutputAudio(RATE, 1, halves())
        writing = asyncio.create_task(FileOutput(tmp_path / "a.wav", AudioFormat.WAV).consume(audio))
        await asyncio.to_thread(encoding.wait)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing

    asyncio.run(interrupt())
    assert events == ["encoded", "closed"]
    assert not list(tmp_path.iterdir())


def test_a_device_is_written_to_and_not_replaced() -> None:
    take(FileOutput(Path("/dev/null"), AudioFormat.WAV), halves())
    assert Path("/dev/null").is_char_device()


def test_standard_output_is_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))
    take(PipeOutput(AudioFormat.PCM), halves())
    np.testing.assert_allclose(from_pcm16(written.getvalue()), TONE, atol=1e-4)


def test_without_a_player_the_way_out_is_named(only_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"-o speech\.wav"):
        output_for(None, None)


def test_a_player_is_handed_the_samples(only_path: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    fake_player(only_path, "aplay", f"open({str(heard)!r}, 'wb').write(sys.stdin.buffer.read())")
    output = output_for(None, None)
    assert output == LoudspeakerOutput()
    take(output, halves())
    np.testing.assert_allclose(from_pcm16(heard.read_bytes()), TONE, atol=1e-4)


def test_a_player_of_files_is_handed_a_file(only_path: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    fake_player(only_path, "afplay", f"open({str(heard)!r}, 'wb').write(open(sys.argv[1], 'rb').read())")
    take(LoudspeakerOutput(), halves())
    pcm, _ = decode(heard.read_bytes(), max_seconds=10, max_samples=10 * RATE)
    assert len(pcm) == len(TONE)


def test_a_player_that_fails_is_an_error(only_path: Path) -> None:
    fake_player(only_path, "paplay", "sys.exit(3)")
    with pytest.raises(UnavailableError, match="status 3"):
        take(LoudspeakerOutput(), halves(np.tile(TONE, 60)))


def test_a_player_without_a_sound_device_is_one_sentence(only_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    complaints = "ALSA lib confmisc.c: cannot find card '0'\nALSA lib pcm.c: Unknown PCM default\n"
    fake_player(only_path, "aplay", f"sys.exit({complaints + 'aplay: main: audio open error: No such file.'!r})")
    with pytest.raises(UnavailableError) as refused:
        take(LoudspeakerOutput(), halves(np.tile(TONE, 60)))
    assert refused.value.message == (
        "aplay could not play the speech (aplay: main: audio open error: No such file): "
        "on a machine without a sound device, write a file with `-o speech.wav`."
    )
    assert capfd.readouterr() == ("", "")


def test_an_interrupted_player_is_stopped(only_path: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    fake_player(
        only_path, "aplay", f"import os, time; open({str(started)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    )

    def player_has_started() -> None:
        while not (started.exists() and started.read_text()):
            time.sleep(0.02)

    async def interrupt() -> None:
        playing = asyncio.create_task(LoudspeakerOutput().consume(OutputAudio(RATE, 1, halves())))
        await asyncio.wait_for(asyncio.to_thread(player_has_started), 30)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing

    asyncio.run(interrupt())
    assert not Path(f"/proc/{started.read_text()}").exists()
