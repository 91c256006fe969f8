"""NeuCodec's decoder against tensors of the original, and rows of a batch against themselves alone."""

import platform
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from helpers.seeded_codec import seeded_codec, seeded_codec_state
from helpers.tables import each_row
from polyvox.models.loading import WeightsError
from polyvox.models.speechlm.neucodec import TOKENS, NeuCodecConfig, load_neucodec

FOLDER = Path(__file__).parents[1] / "golden" / "neucodec"
TINY = NeuCodecConfig(hidden=64, depth=2, heads=4, hop=40)
SEED = 31
# The original itself differs by 2e-7 between 32 and 64 bits, and its inner values are ten times as large as samples.
# The tensors were recorded on x86_64; another processor adds in another order.
ROUNDING = 5e-6 if platform.machine() in ("x86_64", "AMD64") else 1e-5


@cache
def golden(size):
    return load_file(FOLDER / f"{size}.safetensors")


def codec():
    return seeded_codec(TINY, SEED)


def codes(length, seed=0):
    return torch.randint(TOKENS, (length,), generator=torch.Generator().manual_seed(seed))


def far(ours, theirs):
    assert ours.shape == theirs.shape
    return (ours - theirs).abs().max().item()


def test_samples_are_those_of_the_original():
    tensors = golden("tiny")
    assert far(codec()(tensors["codes"][:, 0]), tensors["audio"][:, 0]) < ROUNDING


def test_every_stage_is_that_of_the_original():
    model, tensors = codec(), golden("tiny")
    rows = model.embed_codes(tensors["codes"][:, 0], None)
    assert far(rows, tensors["mid.embed"]) < ROUNDING
    for net in model.prior_net:
        rows = net(rows, None)
    assert far(rows, tensors["mid.prior_net"]) < ROUNDING
    rows = rows.transpose(1, 2)
    rows = model.transformers[0](rows, None)
    assert far(rows, tensors["mid.transformers.0"]) < ROUNDING
    features = model.features(tensors["codes"][:, 0], None)
    assert far(features, tensors["mid.final_layer_norm"]) < ROUNDING
    assert far(model.head(features), tensors["mid.head.out"]) < ROUNDING


@pytest.mark.slow
def test_samples_of_the_full_size_are_those_of_the_original():
    tensors = golden("full")
    model = load_neucodec(NeuCodecConfig(), seeded_codec_state(NeuCodecConfig(), SEED, quantised=2048))
    assert sum(parameter.numel() for parameter in model.parameters()) > 185e6
    tokens = tensors["codes"][:, 0]
    assert far(model.features(tokens, None), tensors["mid.final_layer_norm"]) < 1e-4
    assert far(model(tokens), tensors["audio"][:, 0]) < ROUNDING
    mixed = model.decode([tokens[0], tokens[1, :7], tokens[0, :1]])
    assert far(mixed[0], tensors["audio"][0, 0]) < ROUNDING
    assert far(mixed[1], model(tokens[1:, :7])[0]) < ROUNDING


def test_a_row_does_not_depend_on_the_lengths_of_its_neighbours():
    model = codec()
    sequences = [codes(length, seed=length) for length in (23, 1, 9, 64, 2, 40, 9)]
    together = model.decode(sequences)
    for alone, mixed in zip(sequences, together, strict=True):
        assert far(model.decode([alone])[0], mixed) < ROUNDING


@each_row("padding", [0, 12_345, TOKENS - 1])
def test_what_stands_in_the_padding_does_not_matter(padding):
    row = codes(12)
    padded = torch.cat((row, torch.full((20,), padding)))[None]
    present = torch.arange(32)[None] < 12
    samples = codec()(padded, present)
    assert far(samples[0, : 12 * 40], codec().decode([row])[0]) < ROUNDING
    assert samples.isfinite().all()


def test_padding_without_a_mask_would_have_leaked():
    row = codes(12)
    padded = torch.cat((row, torch.zeros(20, dtype=torch.long)))
    assert far(codec().decode([padded])[0][: 12 * 40], codec().decode([row])[0]) > 1e-2


def test_equal_lengths_take_no_mask():
    rows = [codes(9, seed) for seed in range(3)]
    assert torch.equal(torch.stack(codec().decode(rows)), codec()(torch.stack(rows)))


@pytest.mark.long
def test_sixteen_bits_are_enough_for_the_network():
    row = codes(30)
    exact = codec().decode([row])[0]
    half = load_neucodec(TINY, seeded_codec_state(TINY, SEED), torch.bfloat16)
    samples = half.decode([row, row[:11]])
    assert samples[0].dtype == torch.float32
    noise, signal = (samples[0] - exact).square().mean(), exact.square().mean()
    assert noise < 1e-2 * signal


def test_weights_of_the_encoder_are_left_aside_and_missing_ones_are_named():
    state = seeded_codec_state(TINY, SEED)
    load_neucodec(TINY, state | {"codec_encoder.initial.weight": torch.zeros(3)})
    with pytest.raises(WeightsError, match=r"fc_post_a\.weight"):
        load_neucodec(TINY, {name: tensor for name, tensor in state.items() if name != "fc_post_a.weight"})
    with pytest.raises(WeightsError, match=r"transformers\.1\.c_proj\.weight"):
        load_neucodec(TINY, {name: tensor for name, tensor in state.items() if "transformers.1.att.c_proj" not in name})
