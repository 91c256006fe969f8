"""Fitting a style by gradients: it approaches the speaker. That it does so again is tested on tiny networks."""

from itertools import islice

import numpy as np
import pytest
import torch

from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.bundles.listener_weights import read_campplus
from polyvox.engines.kokoro.fitting import style_fit
from polyvox.engines.kokoro.fitting.config import FitConfig
from polyvox.engines.kokoro.fitting.scoring import SpeechScorer, TargetSpeaker
from polyvox.engines.kokoro.fitting.sentences import LONG
from polyvox.engines.kokoro.fitting.style_fit import StyleBasis, StyleFit, padded_ids
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.speakers import SENTENCE, measure_speaker, read_speakers
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.engines.kokoro.voices import VOICES, parse
from polyvox.models.kokoro.model import Kokoro, KokoroConfig, StyledTokens, load_kokoro
from polyvox.models.listeners.campplus import CampPlusConfig, load_campplus
from polyvox.voices.recognition.similarity import SpeakerEncoder


def test_each_built_in_voice_is_nearest_to_itself():
    speakers = read_speakers()
    assert speakers.names == tuple(voice.id for voice in VOICES)
    for name in ("af_heart", "am_adam", "bf_emma"):
        index = speakers.names.index(name)
        mix, similarity = speakers.nearest(speakers.embeddings[index], float(speakers.pitches[index]))
        assert mix[0].voice == name
        assert similarity == pytest.approx(1.0, abs=1e-3)


def test_the_voices_to_start_from_speak_the_language_and_make_a_mix():
    speakers = read_speakers()
    index = speakers.names.index("jf_alpha")
    mix, _ = speakers.nearest(speakers.embeddings[index], None)
    assert all(part.voice[0] in "ab" for part in mix)
    assert sum(part.share for part in mix) == pytest.approx(1.0, abs=0.01)
    assert parse("+".join(f"{part.voice}({part.share:g})" for part in mix))


def test_a_low_speaker_starts_from_low_voices():
    speakers = read_speakers()
    neutral = np.zeros(speakers.embeddings.shape[1], np.float32)
    for pitch in (95.0, 210.0):
        mix, _ = speakers.nearest(neutral, pitch)
        chosen = [float(speakers.pitches[speakers.names.index(part.voice)]) for part in mix]
        assert np.median(chosen) == pytest.approx(pitch, rel=0.25)


def test_the_basis_spans_the_directions_in_which_voices_differ():
    generator = np.random.default_rng(0)
    styles = np.zeros((20, 30, 8), np.float32)
    styles[..., 1] = generator.normal(0, 3.0, (20, 30))
    styles[..., 6] = generator.normal(0, 0.5, (20, 30))
    matrix = StyleBasis.of(styles).matrix.numpy()
    reached = np.sqrt(np.square(matrix).sum(axis=1))
    np.testing.assert_allclose(reached, [0, 3.0, 0, 0, 0, 0, 0.5, 0], atol=0.3)
    assert not matrix[:4, 4:].any()
    assert not matrix[4:, :4].any()


@pytest.fixture(scope="module")
def voices(models_dir) -> VoiceTable:
    return VoiceTable(models_dir / "kokoro/voices", VOICES)


@pytest.mark.slow
def test_the_table_is_what_the_voices_sound_like(models_dir, installed, voices):
    model = KokoroModel(models_dir / "kokoro/model.onnx", 2)
    encoder, speakers = SpeakerEncoder(installed("campplus")), read_speakers()
    index = speakers.names.index("am_adam")
    embedding, pitch = measure_speaker(model, encoder, voices.style("am_adam"))
    assert embedding @ speakers.embeddings[index] > 0.95
    assert pitch == pytest.approx(float(speakers.pitches[index]), rel=0.1)


@pytest.fixture(scope="module")
def kokoro(models_dir) -> Kokoro:
    return load_kokoro(KokoroConfig(), read_kokoro(models_dir / "kokoro/model.onnx"), prosody_dtype=torch.float32)


@pytest.fixture(scope="module")
def michael() -> TargetSpeaker:
    speakers = read_speakers()
    index = speakers.names.index("am_michael")
    return TargetSpeaker(torch.from_numpy(speakers.embeddings[index]), float(np.log(speakers.pitches[index])))


@pytest.fixture(scope="module")
def basis(voices) -> StyleBasis:
    return StyleBasis.of(np.stack([voices.style(voice.id)[:, 0] for voice in VOICES]))


@pytest.fixture(scope="module")
def scorer(installed) -> SpeechScorer:
    return SpeechScorer(load_campplus(CampPlusConfig(), read_campplus(installed("campplus").file("model.onnx"))), None)


@pytest.mark.slow
def test_a_short_fit_comes_nearer_to_the_speaker_in_sound_and_pitch(
    kokoro, scorer, voices, michael, basis, monkeypatch
):
    longer = LONG[:2]
    monkeypatch.setattr(style_fit, "LONG", longer)
    base = torch.from_numpy(voices.style("af_bella")[:, 0])

    def octaves_off(style: torch.Tensor) -> float:
        ids = padded_ids(longer[-1])
        with torch.no_grad():
            (prosody,) = kokoro.predict_prosody([StyledTokens(ids, style[len(ids) - 3])])
        return abs(float(prosody.pitch[prosody.pitch > 50].log().mean()) - michael.log_pitch) / np.log(2)

    config = FitConfig(steps=4, sentences=("skˈI.",), window=24, pitch_steps=2, averaged=1, seed=1)
    fit = StyleFit(kokoro, scorer, base, base, basis, michael, config)
    (first, offset), (second, _) = [(similarity, fit.offset) for similarity in islice(fit.run(), 2)]
    assert second > first + 0.02
    assert octaves_off(base) > 0.5
    assert octaves_off(base + offset) < 0.2, "of a longer sentence, for which only the pitch is fitted"


def test_ids_have_padding_at_both_ends():
    ids = padded_ids(SENTENCE)
    assert (ids[0], ids[-1], len(ids)) == (0, 0, len(SENTENCE) + 2)
