"""CosyVoice 1's vocoder against the original.

Magnitudes are exponentials and phases are sums of thousands of pitches, so that rounding in the seventh digit of a
pitch shows in the third of a sample. Each part is therefore compared on the original's own input.
"""

import json

import torch

from helpers.cosyvoice1_golden import hift1, start_phase, vocoder_noise
from helpers.cosyvoice_golden import FOLDER, assert_near, golden
from helpers.tables import each_row
from polyvox.models.cache import LayerCache
from polyvox.models.hift.filter import FilterConfig
from polyvox.models.hift.model import HiftConfig, HiftState, load_hift
from polyvox.models.hift.source import SourceConfig

NOISE_SEED, CACHED_NOISE_SEED = 31_000, 31_001
ROUNDING = 3e-3
"""How far a sample may move by rounding in the pitch: 1.8e-3 was seen."""


def test_the_pitch_is_the_originals_to_within_single_precision():
    expected = golden(1, "hift")
    pitch = hift1().pitch(expected["in.mel"], LayerCache())
    assert ((pitch - expected["f0"]).abs() / expected["f0"]).max().item() < 1e-5
    assert ((pitch > 10).float()[..., None] == expected["source.uv"]).all()


def test_harmonics_are_summed_sample_by_sample_from_a_given_phase():
    expected, source = golden(1, "hift"), hift1().source
    cycles, noise = source.cycles(expected["f0"], start_phase(expected["source.phase"])), vocoder_noise(NOISE_SEED, 26)
    assert_near(source.waves(expected["f0"], cycles, noise)[:, :1024], expected["source.sine"], 1e-5)
    assert_near(source(expected["f0"], cycles, noise), expected["infer.source"][:, 0])


@each_row("dtype", [torch.float32, torch.float64])
def test_the_source_is_filtered(dtype):
    expected = golden(1, "hift")
    assert_near(hift1(dtype)(expected["in.mel"], expected["infer.source"][:, 0]), expected["infer.wav"])


def test_each_stage_of_the_filter():
    expected, model, seen = golden(1, "hift"), hift1().filter, {}
    parts = {
        "conv_pre": model.conv_pre,
        "ups0": model.ups[0],
        "res01": model.resblocks[1],
    }
    hooks = [
        part.register_forward_hook(lambda _module, _given, made, name=name: seen.update({name: made}))
        for name, part in parts.items()
    ]
    hift1()(expected["in.mel"], expected["infer.source"][:, 0])
    for hook in hooks:
        hook.remove()
    for name, made in seen.items():
        # Values reach 27 behind a residual block, and rounding is of their size.
        assert_near(made, expected[f"infer.{name}"], 1e-5 * max(1.0, expected[f"infer.{name}"].abs().max().item()))
    assert len(seen) == 3


def test_a_call_as_a_whole():
    expected = golden(1, "hift")
    noise, start = vocoder_noise(NOISE_SEED, 26), start_phase(expected["source.phase"])
    samples, state = hift1().step(expected["in.mel"], noise, final=True, start=start)
    assert state is None
    assert_near(samples, expected["infer.wav"], ROUNDING)
    assert (samples - expected["infer.wav"]).square().mean().sqrt().item() < 1e-4


def test_the_end_of_the_chunk_before_is_taken_over():
    expected = golden(1, "hift")
    mel, cached = expected["in.mel"], expected["infer_cached.cache_source"][:, 0]
    before = HiftState(mel[:, :, :20], cached, torch.zeros(1, 5120))
    noise, start = vocoder_noise(CACHED_NOISE_SEED, 26), start_phase(expected["infer_cached.phase"])
    samples, _ = hift1().step(mel[:, :, 20:], noise, before, final=True, start=start)
    assert_near(samples[:, 5120:], expected["infer_cached.wav"][:, 5120:], ROUNDING)


def test_a_chunk_holds_back_twenty_frames():
    mel = golden(1, "hift")["in.mel"]
    samples, after = hift1().step(mel, vocoder_noise(1, 26))
    assert samples.shape == (1, 6 * 256)
    assert (after.mel.shape[2], after.source.shape[1], after.samples.shape[1]) == (20, 5120, 5120)


def test_the_released_weights_fit():
    shapes = json.loads((FOLDER / "cosyvoice1" / "released_shapes.json").read_text())["hift"]
    config = HiftConfig(
        source=SourceConfig(sample_rate=22_050, samples_per_frame=256, per_sample=True),
        filter=FilterConfig(rates=(8, 8), up_kernels=(16, 16), source_kernels=(7, 11)),
        overlap=20,
    )
    model = load_hift(config, {name: torch.empty(shape, device="meta") for name, shape in shapes.items()})
    assert model.pitch.classifier.weight.shape == (1, 512)
