"""Chatterbox's voice encoder computes what the original computes: trimming, mel, windows and embedding."""

import pytest
import torch

from helpers.chatterbox_s3gen import reference
from helpers.chatterbox_t3_golden import VOICE_ENCODER, golden, voice_encoder
from polyvox.audio.resample import resampled
from polyvox.models.chatterbox.voice_encoder import (
    LEAST_SAMPLES,
    RATE,
    STEP,
    WINDOW,
    load_voice_encoder,
    loud_part,
    mel_power,
    windows,
)
from polyvox.models.loading import WeightsError, under

_EVERY = 8
"""One of so many frames of the mel is recorded."""
_SHORT = slice(8_000, 40_000)


@pytest.fixture(autouse=True)
def _inference() -> object:
    with torch.inference_mode():
        yield


def test_every_stage_of_a_recording_is_the_originals() -> None:
    recorded, whole = golden("voice_encoder"), torch.from_numpy(resampled(reference(), 24_000, RATE))
    for name, samples in (("short", whole[_SHORT]), ("whole", whole)):
        start, end = loud_part(samples)
        assert [start, end] == recorded[f"{name}.trim"].tolist()
        mel = mel_power(samples[start:end], VOICE_ENCODER.bins)
        if name == "short":
            torch.testing.assert_close(mel[::_EVERY], recorded["short.mel"], rtol=0, atol=1e-5)
        parts = windows(mel)
        sizes = STEP, len(parts), WINDOW + STEP * (len(parts) - 1), len(mel)
        assert list(sizes) == recorded[f"{name}.partials"].tolist()
        torch.testing.assert_close(voice_encoder()(parts), recorded[f"{name}.partial_embeddings"], rtol=0, atol=1e-6)
        torch.testing.assert_close(voice_encoder().embed(samples), recorded[f"{name}.embedding"], rtol=0, atol=1e-6)


def test_windows_cover_a_mel_and_a_last_one_counts_where_it_is_mostly_filled() -> None:
    wanted = {1: 1, WINDOW: 1, WINDOW + 44: 1, WINDOW + 45: 2, WINDOW + STEP: 2, WINDOW + 3 * STEP + 44: 4}
    for frames, count in wanted.items():
        mel = torch.arange(1.0, frames + 1)[:, None].expand(frames, 2)
        parts = windows(mel)
        assert parts.shape == (count, WINDOW, 2), frames
        for index, part in enumerate(parts):
            own = mel[index * STEP : index * STEP + WINDOW]
            assert torch.equal(part[: len(own)], own)
            assert not part[len(own) :].any()


def test_silence_around_a_voice_is_cut_and_silence_alone_is_not() -> None:
    tone = torch.sin(torch.arange(16_000) / 5.0)
    quiet = torch.zeros(16_000)
    start, end = loud_part(torch.cat((quiet, tone, quiet)))
    assert 14_000 < start <= 16_000
    assert 32_000 <= end < 34_000
    assert loud_part(quiet) == (0, len(quiet))
    assert voice_encoder().embed(quiet).isfinite().all()


def test_the_shortest_recording_has_a_voice() -> None:
    embedding = voice_encoder().embed(torch.sin(torch.arange(LEAST_SAMPLES) / 3.0))
    assert embedding.norm().item() == pytest.approx(1.0, abs=1e-5)


def test_weights_that_do_not_fit_are_refused_by_name() -> None:
    given = under("weights.", golden("voice_encoder"))
    del given["proj.bias"]
    with pytest.raises(WeightsError, match=r"lack proj\.bias"):
        load_voice_encoder(VOICE_ENCODER, given)
