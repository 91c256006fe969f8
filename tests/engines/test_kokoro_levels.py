"""Even levels of Kokoro's voices."""

import numpy as np
import pytest

from polyvox.engines.kokoro.chunking import Break, PhonemeChunk
from polyvox.engines.kokoro.levels import TARGET_LUFS, gain_for, measured_levels, mix_level, with_gain
from polyvox.engines.kokoro.render import SAMPLE_RATE, render
from polyvox.engines.kokoro.request import ModelOutput
from polyvox.engines.kokoro.voices import VOICES, parse
from polyvox.text.spoken import SpokenWord
from polyvox.types import Span


def tone(peak, hertz=440.0, seconds=0.5):
    time = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (peak * np.sin(2 * np.pi * hertz * time)).astype(np.float32)


def test_every_built_in_voice_is_measured():
    levels = measured_levels()
    assert set(levels) == {voice.id for voice in VOICES}
    assert all(-30 < level < -12 for level in levels.values())


def test_the_gain_brings_each_voice_to_the_target():
    for level in measured_levels().values():
        assert level + 20 * np.log10(gain_for(level)) == pytest.approx(TARGET_LUFS)


def test_a_mix_lies_between_its_voices_and_never_outside():
    levels = measured_levels()
    first, second = levels["af_heart"], levels["bf_emma"]
    assert mix_level(parse("af_heart(2)+bf_emma(1)")) == pytest.approx((2 * first + second) / 3)
    assert mix_level(parse("af_heart(3)-bf_emma(1)")) in (first, second)


def test_what_passes_full_scale_is_limited_to_the_ceiling_and_keeps_its_length():
    clipping = tone(1.58)
    limited = with_gain(clipping, 1.0, SAMPLE_RATE)
    assert len(limited) == len(clipping)
    assert np.abs(limited).max() <= 10 ** (-1 / 20) + 1e-6
    assert np.array_equal(with_gain(tone(0.3), 1.5, SAMPLE_RATE), tone(0.3) * np.float32(1.5))


def test_a_chunk_is_rendered_at_its_gain_or_raw():
    chunk = PhonemeChunk((SpokenWord("a", "a", Span(0, 1), False),), Break.SENTENCE)
    output = ModelOutput(tone(0.25), np.array([4, 12, 4]))
    raw, even = (render(chunk, output, 1.0, gain).pcm for gain in (None, 2.0))
    assert np.abs(raw).max() == pytest.approx(0.25, abs=0.01)
    assert np.abs(even).max() == pytest.approx(0.5, abs=0.02)
    assert len(raw) == len(even)
