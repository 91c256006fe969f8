"""A voice is brought to a speaker's pitch."""

import numpy as np
import pytest
import torch

from helpers.tiny_kokoro import TINY, tiny_kokoro
from polyvox.engines.kokoro.fitting.pitch_fit import fit_pitch, mean_log_pitches, shifted
from polyvox.engines.kokoro.fitting.style_fit import styled_sentence

SENTENCES = ("hˈæpi ænd ɡlˈæd.", "ə sˈɔŋ.", "ðə skˈI ɪz blˈu.")


def test_three_steps_bring_sentences_to_a_pitch_with_a_small_offset():
    kokoro = tiny_kokoro()
    style = torch.randn(510, 2 * TINY.style, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    sentences = [styled_sentence(phonemes, style) for phonemes in SENTENCES]
    basis = torch.eye(TINY.style, dtype=torch.float64) / 4
    before = float(mean_log_pitches(kokoro.predict_prosody(sentences)).mean())
    for target in (before + np.log(1.2), before - np.log(1.2)):
        offset = fit_pitch(kokoro, sentences, basis, target, steps=3)
        after = mean_log_pitches(kokoro.predict_prosody(shifted(sentences, offset))).mean()
        assert float(after) == pytest.approx(target, abs=0.02)
        assert offset.square().mean().sqrt() < 0.25, "within a standard deviation of the basis"


def test_sentences_without_voiced_frames_move_nothing():
    kokoro = tiny_kokoro()
    kokoro.predictor.F0_proj.weight.zero_()
    kokoro.predictor.F0_proj.bias.zero_()
    style = torch.zeros(510, 2 * TINY.style, dtype=torch.float64)
    basis = torch.eye(TINY.style, dtype=torch.float64)
    assert not fit_pitch(kokoro, [styled_sentence("ə.", style)], basis, 5.0, steps=2).any()
