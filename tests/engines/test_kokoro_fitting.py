"""Fitting a style by gradients: it comes nearer to the speaker, step by step, and twice the same way."""

import platform

import numpy as np
import pytest
import torch

from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.bundles.listener_weights import read_campplus
from polyvox.engines.kokoro.fit_listeners import Listeners
from polyvox.engines.kokoro.fit_plan import FitPlan
from polyvox.engines.kokoro.fit_speaker import Speaker
from polyvox.engines.kokoro.fit_texts import LONG
from polyvox.engines.kokoro.fitting import Directions, Fit, line_ids
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.speakers import SENTENCE, measure_speaker, read_speakers
from polyvox.engines.kokoro.voices import VoiceBook, catalogue, parse
from polyvox.models.kokoro.model import Kokoro, KokoroConfig, Line, load_kokoro
from polyvox.models.listeners.campplus import CampPlusConfig, load_campplus
from polyvox.voices.similarity import SpeakerEncoder

# To the last bit where that has been seen; other machines' libraries may add up in any order.
CHANCE = 0.0 if platform.machine() == "x86_64" else 1e-4


def test_each_built_in_voice_is_nearest_to_itself():
    speakers = read_speakers()
    assert speakers.names == tuple(voice.id for voice in catalogue())
    for name in ("af_heart", "am_adam", "bf_emma"):
        place = speakers.names.index(name)
        mix, likeness = speakers.nearest(speakers.embeddings[place], float(speakers.pitches[place]))
        assert mix[0].voice == name
        assert likeness == pytest.approx(1.0, abs=1e-3)


def test_the_voices_to_start_from_speak_the_language_and_make_a_mix():
    speakers = read_speakers()
    place = speakers.names.index("jf_alpha")
    mix, _ = speakers.nearest(speakers.embeddings[place], None)
    assert all(part.voice[0] in "ab" for part in mix)
    assert sum(part.share for part in mix) == pytest.approx(1.0, abs=0.01)
    assert parse("+".join(f"{part.voice}({part.share:g})" for part in mix))


def test_whoever_speaks_low_starts_from_low_voices():
    speakers = read_speakers()
    neutral = np.zeros(speakers.embeddings.shape[1], np.float32)
    for pitch in (95.0, 210.0):
        mix, _ = speakers.nearest(neutral, pitch)
        chosen = [float(speakers.pitches[speakers.names.index(part.voice)]) for part in mix]
        assert np.median(chosen) == pytest.approx(pitch, rel=0.25)


def test_directions_are_those_in_which_styles_differ():
    generator = np.random.default_rng(0)
    styles = np.zeros((20, 30, 8), np.float32)
    styles[..., 1] = generator.normal(0, 3.0, (20, 30))
    styles[..., 6] = generator.normal(0, 0.5, (20, 30))
    matrix = Directions.of(styles).matrix.numpy()
    reached = np.sqrt(np.square(matrix).sum(axis=1))
    np.testing.assert_allclose(reached, [0, 3.0, 0, 0, 0, 0, 0.5, 0], atol=0.3)
    assert not matrix[:4, 4:].any()
    assert not matrix[4:, :4].any()


@pytest.fixture(scope="module")
def book(models_dir) -> VoiceBook:
    return VoiceBook(models_dir / "kokoro/voices", catalogue())


@pytest.mark.slow
def test_the_table_is_what_the_voices_sound_like(models_dir, installed, book):
    model = KokoroModel(models_dir / "kokoro/model.onnx", 2)
    encoder, speakers = SpeakerEncoder(installed("campplus")), read_speakers()
    for name in ("am_adam", "zf_xiaoni"):
        place = speakers.names.index(name)
        embedding, pitch = measure_speaker(model, encoder, book.style(name))
        assert embedding @ speakers.embeddings[place] > 0.95
        assert pitch == pytest.approx(float(speakers.pitches[place]), rel=0.1)


@pytest.fixture(scope="module")
def kokoro(models_dir) -> Kokoro:
    return load_kokoro(KokoroConfig(), read_kokoro(models_dir / "kokoro/model.onnx"), planning=torch.float32)


@pytest.fixture(scope="module")
def michael() -> Speaker:
    speakers = read_speakers()
    place = speakers.names.index("am_michael")
    return Speaker(torch.from_numpy(speakers.embeddings[place]), float(np.log(speakers.pitches[place])))


@pytest.fixture(scope="module")
def directions(book) -> Directions:
    return Directions.of(np.stack([book.style(voice.id)[:, 0] for voice in catalogue()]))


@pytest.fixture
def ear(installed) -> Listeners:
    return Listeners(load_campplus(CampPlusConfig(), read_campplus(installed("campplus").file("model.onnx"))), None)


@pytest.mark.slow
def test_a_short_fit_comes_nearer_to_the_speaker_and_does_so_again(kokoro, ear, book, michael, directions):
    base = torch.from_numpy(book.style("af_bella")[:, 0])

    def run() -> tuple[list[float], torch.Tensor]:
        plan = FitPlan(steps=4, sentences=("ðə skˈI.",), pitch_steps=4, averaged=1, seed=1)
        fit = Fit(kokoro, ear, base, base, directions, michael, plan)
        return list(fit.run()), fit.offset

    likeness, offset = run()
    assert likeness[-1] > likeness[0] + 0.02
    assert offset.abs().max() > 0
    again, same = run()
    assert again == pytest.approx(likeness, abs=CHANCE, rel=0)
    torch.testing.assert_close(same, offset, rtol=0, atol=CHANCE)


@pytest.mark.slow
def test_long_lines_are_led_to_the_speakers_pitch_as_well(kokoro, ear, book, michael, directions):
    base = torch.from_numpy(book.style("af_bella")[:, 0])
    plan = FitPlan(steps=1, sentences=("ðə skˈI.",), pitch_steps=12, averaged=1)
    fit = Fit(kokoro, ear, base, base, directions, michael, plan)
    list(fit.run())

    def octaves_off(style: torch.Tensor) -> float:
        ids = line_ids(LONG[-1])
        with torch.no_grad():
            (line,) = kokoro.plan([Line(ids, style[len(ids) - 3])])
        return abs(float(line.pitch[line.pitch > 50].log().mean()) - michael.log_pitch) / np.log(2)

    assert octaves_off(base) > 0.5
    assert octaves_off(base + fit.offset) < 0.2


def test_lines_have_padding_at_both_ends():
    ids = line_ids(SENTENCE)
    assert (ids[0], ids[-1], len(ids)) == (0, 0, len(SENTENCE) + 2)
