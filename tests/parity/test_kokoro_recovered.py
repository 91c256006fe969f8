"""Kokoro's weights from the released file and from the quantised graph of the bundle."""

import numpy as np
import onnxruntime
import pytest
import torch

from helpers.kokoro_golden import far
from helpers.unquantised_graph import unquantised
from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.errors import BundleError
from polyvox.models.kokoro.model import KokoroConfig, StyledTokens, load_kokoro
from polyvox.models.kokoro.ragged import Ragged

PARTS = ("bert", "bert_encoder", "predictor", "text_encoder", "decoder")
SPEED = 1.6
"""The decoder's work grows with the frames."""
SENTENCE = "ɹˈɛdi."
INNER = {
    "pitch": "/encoder/F0_proj/Conv_output_0",
    "energy": "/encoder/N_proj/Conv_output_0",
    "features": "/decoder/decoder/decode.3/Div_4_output_0",
    "source": "/decoder/decoder/generator/Concat_3_output_0",
    "spectra": "/decoder/decoder/generator/conv_post/Conv_output_0",
}
GAIN = 1.5
"""The graph adds overlapping windows up without dividing by the sum of their squares."""


def test_the_released_file_holds_five_state_dicts(tmp_path):
    path = tmp_path / "kokoro-v1_0.pth"
    torch.save({part: {"module.weight": torch.full((2,), index)} for index, part in enumerate(PARTS)}, path)
    state = read_kokoro(path)
    assert {name: tensor[0].item() for name, tensor in state.items()} == {
        f"{part}.weight": index for index, part in enumerate(PARTS)
    }


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"bert": {}}, "should hold bert, bert_encoder, predictor, text_encoder, decoder"),
        ({part: {"weight": "no tensor"} for part in PARTS}, "tensors by name, and nothing else, under bert"),
        ([1, 2], "is not Kokoro's file"),
    ],
)
def test_another_file_is_refused(tmp_path, content, fault):
    path = tmp_path / "kokoro-v1_0.pth"
    torch.save(content, path)
    with pytest.raises(BundleError, match=fault):
        read_kokoro(path)


def test_a_damaged_graph_is_refused(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(BundleError, match="cannot be read as an ONNX graph"):
        read_kokoro(path)


@pytest.fixture(scope="module")
def bundle(installed):
    return installed("kokoro")


@pytest.fixture(scope="module")
def recovered(bundle):
    return load_kokoro(KokoroConfig(), read_kokoro(bundle.file("model.onnx")))


def model_input(bundle, phonemes, voice="af_heart"):
    styles = np.fromfile(bundle.file(f"voices/{voice}.bin"), dtype=np.float32).reshape(510, 1, 256)
    return ModelInput(tuple(IDS[symbol] for symbol in phonemes), styles[len(phonemes) - 1], SPEED)


def mean_spectrum(samples):
    """The mean spectrum of all samples, in decibels."""
    spectra = torch.stft(samples, 512, 128, window=torch.hann_window(512), return_complex=True)
    return 10 * torch.log10(spectra.abs().square().mean(dim=1) + 1e-6)


def tokens(item):
    return StyledTokens([0, *item.ids, 0], torch.from_numpy(item.style[0]), item.speed)


@pytest.mark.slow
@torch.no_grad()
def test_the_graph_computes_the_same_once_it_rounds_nothing_between_layers(bundle, recovered):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    graph = onnxruntime.InferenceSession(unquantised(bundle.file("model.onnx"), tuple(INNER.values())), options)
    item = model_input(bundle, SENTENCE)
    ids, speed = np.array([[0, *item.ids, 0]]), np.array([item.speed], dtype=np.float32)
    names = ("durations", "waveform", *INNER.values())
    results = graph.run(names, {"input_ids": ids, "style": item.style, "speed": speed})
    durations, waveform, pitch, energy, features, source, spectra = map(torch.from_numpy, results)
    (ours,) = recovered.predict_prosody([tokens(item)])
    assert torch.equal(ours.durations, durations.flatten().long())
    assert far(ours.pitch, pitch[0, 0]) < 5e-3, "of about 200 Hz"
    assert far(ours.energy, energy[0, 0]) < 1e-4
    frames, style = Ragged([ours.frames], features.device), ours.style[None].float()
    made = recovered.decoder.features(ours.text[None], pitch[0], energy[0], style, frames)
    assert far(made, features) < 1e-5 * features.abs().max()
    generator, doubled = recovered.decoder.generator, frames.scaled(2)
    assert far(generator.output_spectra(features, source, style, doubled), spectra) < 1e-5 * spectra.abs().max()
    samples = generator.istft(spectra, doubled)[0]
    inner = slice(100, -100)
    assert far(GAIN * samples[inner], waveform.flatten()[inner]) < 1e-5


@pytest.mark.slow
@torch.no_grad()
def test_the_graph_as_it_is_speaks_nearly_the_same(bundle, recovered):
    """It rounds what is between its layers to 8 bits, which moves a few durations by a frame."""
    graph = KokoroModel(bundle.file("model.onnx"), 1)
    item = model_input(bundle, SENTENCE)
    (prosody,) = recovered.predict_prosody([tokens(item)])
    noise = torch.randn(prosody.noise_shape, generator=torch.Generator().manual_seed(0))
    (samples,) = recovered.decode([prosody], [noise])
    theirs = graph.run(item)
    assert np.abs(prosody.durations.numpy() - theirs.durations).max() <= 1
    assert abs(prosody.frames - theirs.durations.sum()) <= 0.05 * prosody.frames
    difference = mean_spectrum(GAIN * samples) - mean_spectrum(torch.from_numpy(theirs.pcm))
    assert difference.square().mean().sqrt() < 2.5
