"""The prompt made of a reference recording, against the original."""

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.tables import each_row
from polyvox.engines.zipvoice.mel import SAMPLE_RATE, mel_spectrogram
from polyvox.engines.zipvoice.voice import ZipVoicePrompt, trim_recording
from polyvox.errors import PromptError

FOLDER = Path(__file__).parents[1] / "golden" / "zipvoice_frontend"
RECORDED = dict(np.load(FOLDER / "dsp.npz"))
WAV = RECORDED["wav"][0]
FRAMES = json.loads((FOLDER / "text.json").read_text(encoding="utf-8"))["frames_for_samples"]


def test_the_mel_is_the_originals() -> None:
    ours = mel_spectrogram(WAV)
    assert ours.shape == RECORDED["mel"].shape
    assert np.abs(ours - RECORDED["mel"]).max() <= 1e-4


@each_row(("samples", "frames"), FRAMES)
def test_so_many_samples_are_so_many_frames(samples: int, frames: int) -> None:
    assert len(mel_spectrogram(np.zeros(samples, np.float32))) == frames


def test_a_soft_recording_is_raised_and_a_loud_one_left() -> None:
    assert ZipVoicePrompt.of([1], WAV).amplify_to(0.1)[1] == pytest.approx(0.1 / RECORDED["prompt_rms"][0], rel=1e-5)
    assert ZipVoicePrompt.of([1], np.full(1000, 0.5, np.float32)).amplify_to(0.1)[1] == 1.0


def test_edges_and_a_tail_of_silence_are_as_the_originals_to_a_rounding() -> None:
    pcm = trim_recording(WAV, SAMPLE_RATE)
    assert abs(len(pcm) - RECORDED["lengths"][0]) <= 2
    assert not pcm[-4800:].any()


def test_a_recording_at_another_rate_is_brought_to_the_models() -> None:
    second = np.sin(np.arange(16_000) * 0.2).astype(np.float32) * 0.3
    assert len(trim_recording(second, 16_000)) == pytest.approx(1.2 * SAMPLE_RATE, abs=2)


def test_a_silent_recording_is_refused() -> None:
    with pytest.raises(PromptError, match="no sound"):
        trim_recording(np.zeros(48_000, np.float32), SAMPLE_RATE)
