import asyncio
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
import soxr

from helpers import hostile
from helpers.tables import each_row
from helpers.vowels import vowels
from polyvox.audio.encode import AudioFormat, encode
from polyvox.config import Settings
from polyvox.errors import OverloadedError, PromptError, RequestTooLargeError
from polyvox.types import Pcm, Span
from polyvox.voices.limits import PromptLimits, read_at_most
from polyvox.voices.recording import intake as intake_module
from polyvox.voices.recording.intake import RecordingIntake
from polyvox.voices.recording.vad import SileroVad

RATE = 24_000
SETTINGS = Settings()
LIMITS = PromptLimits.of(SETTINGS)
KINDS = [kind for kind in AudioFormat if kind is not AudioFormat.PCM]


class Loudness:
    """Takes whatever is loud for speech, without a model."""

    def speech(self, pcm: Pcm, rate: int) -> list[Span]:
        loud = np.flatnonzero(np.abs(pcm) > 0.02)
        return [Span(int(loud[0]), int(loud[-1]) + 1)] if len(loud) else []


def between_silence(speech: Pcm, before: float, after: float, rate: int = RATE) -> Pcm:
    return np.concatenate((np.zeros(round(before * rate)), speech, np.zeros(round(after * rate)))).astype(np.float32)


@pytest.mark.long
@pytest.mark.anyio
async def test_a_recording_comes_out_trimmed_mono_and_at_the_rate_asked_for() -> None:
    speech = between_silence(vowels(3.0, 48_000), 2.0, 4.0, 48_000)
    data = encode(np.stack((speech, speech * 0.5), axis=1), AudioFormat.FLAC, 48_000)
    taken = await RecordingIntake(SETTINGS, Loudness()).take(data, replace(LIMITS, sample_rate=16_000))
    assert taken.sample_rate == 16_000
    assert taken.pcm.dtype == np.float32
    assert taken.pcm.ndim == 1
    assert len(taken.pcm) / 16_000 == pytest.approx(3.2, abs=0.05)
    assert taken.report.duration == pytest.approx(len(taken.pcm) / 16_000, abs=1e-3)
    assert taken.digest == hashlib.sha256(data).hexdigest()


@pytest.mark.anyio
async def test_a_tenth_of_a_second_is_kept_at_each_end() -> None:
    speech = vowels(3.0, RATE)
    data = encode(between_silence(speech, 2.0, 2.0), AudioFormat.WAV, RATE)
    taken = await RecordingIntake(SETTINGS, Loudness()).take(data, LIMITS)
    heard = np.flatnonzero(np.abs(taken.pcm) > 0.02)
    assert heard[0] / RATE == pytest.approx(0.1, abs=1e-3)
    assert (len(taken.pcm) - heard[-1]) / RATE == pytest.approx(0.1, abs=1e-3)


@pytest.mark.long
@pytest.mark.anyio
@each_row("drift", [0.0, 0.1])
async def test_an_offset_is_removed_and_the_voice_is_not_touched(drift: float) -> None:
    speech = 0.5 * vowels(3.0, RATE)
    offset = 0.2 + drift * np.linspace(-1.0, 1.0, len(speech))
    data = encode((speech + offset).astype(np.float32), AudioFormat.WAV, RATE)
    taken = await RecordingIntake(SETTINGS, Loudness()).take(data, LIMITS)
    assert abs(taken.pcm.mean()) < 1e-3
    np.testing.assert_allclose(taken.pcm[2_400:-2_400], speech[2_400:-2_400], atol=0.02)


@pytest.mark.anyio
async def test_noise_before_the_first_word_counts_although_it_is_cut_off() -> None:
    noise = np.random.default_rng(0).uniform(-0.01, 0.01, 6 * RATE)
    pcm = (between_silence(vowels(3.0, RATE), 1.5, 1.5) + noise).astype(np.float32)
    taken = await RecordingIntake(SETTINGS, Loudness()).take(encode(pcm, AudioFormat.WAV, RATE), LIMITS)
    expected = 10 * np.log10(np.square(vowels(3.0, RATE)).mean() / np.square(noise).mean())
    assert taken.report.snr_db == pytest.approx(expected, abs=1.0)


@pytest.mark.long
@pytest.mark.anyio
async def test_an_engine_may_narrow_the_length() -> None:
    data = encode(vowels(4.0, RATE), AudioFormat.WAV, RATE)
    intake = RecordingIntake(SETTINGS, Loudness())
    with pytest.raises(PromptError, match=r"4\.0 seconds .* send one of 1 to 3 seconds"):
        await intake.take(data, replace(LIMITS, max_seconds=3.0))
    with pytest.raises(PromptError, match="at least 5 seconds"):
        await intake.take(data, replace(LIMITS, min_seconds=5.0))


@pytest.mark.long
@pytest.mark.anyio
async def test_too_poor_is_refused_with_the_reason_unless_the_settings_take_all() -> None:
    data = hostile.as_wav(hostile.noisy(3.0))
    with pytest.raises(PromptError, match=r"score 0\.\d\d, needed 0\.30\)\. The speech is only \d dB above the noise"):
        await RecordingIntake(SETTINGS, Loudness()).take(data, LIMITS)
    taken = await RecordingIntake(Settings(prompt_min_score=0), Loudness()).take(data, LIMITS)
    assert taken.report.score < 0.3
    assert taken.report.warnings


@pytest.mark.anyio
async def test_a_few_are_read_at_once_and_no_more_than_the_queue_holds_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, go_on = 0, asyncio.Event()

    async def slow(data: bytes, limits: PromptLimits) -> tuple[Pcm, int]:
        nonlocal reading
        reading += 1
        await go_on.wait()
        return vowels(3.0, RATE), RATE

    monkeypatch.setattr(intake_module, "decode_bounded", slow)
    intake = RecordingIntake(Settings(prompt_workers=2, max_queue=3), Loudness())
    waiting = [asyncio.create_task(intake.take(b"", LIMITS)) for _ in range(5)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert reading == 2
    with pytest.raises(OverloadedError):
        await intake.take(b"", LIMITS)
    waiting.pop().cancel()
    go_on.set()
    assert len(await asyncio.gather(*waiting)) == 4
    assert (await intake.take(b"", LIMITS)).report.score == 1.0


async def chunks(*sizes: int):
    for size in sizes:
        yield bytes(size)


@pytest.mark.anyio
async def test_reading_stops_at_the_byte_too_many() -> None:
    assert await read_at_most(chunks(4, 0, 6), 10) == bytes(10)
    with pytest.raises(RequestTooLargeError, match="10 bytes"):
        await read_at_most(chunks(4, 6, 1), 10)


def test_what_is_decoded_is_bounded_for_every_setting() -> None:
    largest = PromptLimits.of(Settings(prompt_max_seconds=60))
    assert largest.decoded_seconds == 120
    assert 4 * largest.decoded_samples < 50_000_000


class Outcome(TypedDict):
    error: str
    status: int
    message: str
    seconds: float


class Outcomes(TypedDict):
    outcomes: dict[str, Outcome]
    kilobytes: dict[str, int]


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="session")
def outcomes(scratch: Path) -> Outcomes:
    """What became of every hostile file, with the real speech detector."""
    places = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(scratch))
    tests = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-m", "helpers.hostile_intake"],
        cwd=scratch,
        env={
            **os.environ,
            **places,
            "PYTHONPATH": os.pathsep.join(filter(None, (tests, os.environ.get("PYTHONPATH")))),
        },
        stdout=subprocess.PIPE,
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.slow
@each_row("name", hostile.FILES)
def test_a_hostile_file_is_refused_within_five_seconds(outcomes: Outcomes, name: str) -> None:
    outcome = outcomes["outcomes"][name]
    assert outcome["error"] in ("AudioDecodeError", "PromptError")
    assert 400 <= outcome["status"] < 500
    assert outcome["message"].endswith(".")
    assert outcome["seconds"] < 5


@pytest.mark.slow
@each_row("name", hostile.TOO_LONG)
def test_a_file_that_unfolds_without_end_is_refused_for_its_length(outcomes: Outcomes, name: str) -> None:
    assert "seconds" in outcomes["outcomes"][name]["message"]


@pytest.mark.slow
@each_row("name", hostile.USELESS)
def test_a_recording_that_is_of_no_use_is_refused_as_a_prompt(outcomes: Outcomes, name: str) -> None:
    assert outcomes["outcomes"][name]["error"] == "PromptError"


@pytest.mark.slow
def test_no_hostile_file_takes_more_than_300_megabytes_or_leaves_a_trace(outcomes: Outcomes, scratch: Path) -> None:
    assert outcomes["kilobytes"]["own"] < 300_000
    assert outcomes["kilobytes"]["children"] < 300_000
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_speech_is_taken_from_every_format(detector: SileroVad, kind: AudioFormat) -> None:
    data = encode(between_silence(vowels(3.0, RATE), 1.0, 2.0), kind, RATE)
    taken = await RecordingIntake(SETTINGS, detector).take(data, LIMITS)
    assert taken.report.duration == pytest.approx(3.2, abs=0.3)
    assert taken.report.score > 0.9
    assert taken.report.warnings == ()


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100])
async def test_speech_is_taken_at_every_rate(detector: SileroVad, rate: int) -> None:
    data = encode(soxr.resample(vowels(3.0, RATE), RATE, rate), AudioFormat.WAV, rate)
    taken = await RecordingIntake(SETTINGS, detector).take(data, LIMITS)
    assert len(taken.pcm) / taken.sample_rate == pytest.approx(3.0, abs=0.1)
