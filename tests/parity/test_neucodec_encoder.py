"""NeuCodec's encoder against tensors of the original, stage by stage, and the published names of its weights."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from helpers.tables import each_row
from polyvox.audio.features import w2v_bert_features
from polyvox.models.loading import WeightsError
from polyvox.models.speechlm import acoustic_encoder
from polyvox.models.speechlm.acoustic_encoder import filter_taps
from polyvox.models.speechlm.neucodec_encoder import (
    NeuCodecEncoder,
    NeuCodecEncoderConfig,
    bounded,
    codes_of,
    encoder_config,
    load_neucodec_encoder,
)

FOLDER = Path(__file__).parents[1] / "golden" / "neucodec_encoder"
CASES = ("short", "long")
ROUNDING = 2e-5


@cache
def golden():
    return load_file(FOLDER / "tiny.safetensors")


@cache
def weights():
    return load_file(FOLDER / "weights_tiny.safetensors")


@cache
def encoder() -> NeuCodecEncoder:
    return load_neucodec_encoder(encoder_config(weights()), weights())


def far(ours, theirs):
    assert ours.shape == theirs.shape
    return (ours - theirs).abs().max().item()


def padded(case):
    return encoder().padded(golden()[f"{case}.audio_in"])[None]


@pytest.mark.long
@each_row("case", CASES)
def test_tokens_are_those_of_the_original(case):
    codes = encoder().encode(golden()[f"{case}.audio_in"].numpy())
    assert codes.tolist() == golden()[f"{case}.codes"][0, 0].tolist()


@each_row("case", CASES)
def test_features_are_those_of_the_original(case):
    features = torch.from_numpy(w2v_bert_features(padded(case)[0].numpy()))
    assert far(features, golden()[f"{case}.input_features"][0]) < ROUNDING


@each_row("case", CASES)
def test_the_semantic_branch_is_that_of_the_original(case):
    model, features = encoder(), golden()[f"{case}.input_features"]
    assert far(model.semantic.feature_projection(features), golden()[f"{case}.hidden0"]) < ROUNDING
    hidden = model.semantic(features)
    assert far(hidden, golden()[f"{case}.hidden16"]) < ROUNDING
    assert far(model.semantic_encoder(hidden.transpose(1, 2)), golden()[f"{case}.semantic"]) < ROUNDING


def test_each_part_of_a_layer_is_that_of_the_original():
    model, tensors = encoder(), golden()
    layers = model.semantic.encoder["layers"]
    rows, steps = tensors["short.hidden0"], torch.arange(20)
    distances = (steps - steps[:, None]).clamp(-64, 8) + 64
    first = layers[0]
    assert far(first.ffn1(first.ffn1_layer_norm(rows)), tensors["short.l0.ffn1"]) < ROUNDING
    inner = rows + 0.5 * tensors["short.l0.ffn1"]
    assert far(first.self_attn(first.self_attn_layer_norm(inner), distances), tensors["short.l0.attn"]) < ROUNDING
    inner = inner + tensors["short.l0.attn"]
    assert far(first.conv_module(inner), tensors["short.l0.conv"]) < ROUNDING
    assert far(first(rows, distances), tensors["short.l0"]) < ROUNDING
    for layer in layers[:8]:
        rows = layer(rows, distances)
    assert far(rows, tensors["short.hidden8"]) < ROUNDING
    initial = model.semantic_encoder.initial_conv(tensors["short.hidden16"].transpose(1, 2))
    assert far(initial, tensors["short.semantic.initial"]) < ROUNDING


def test_each_block_of_the_acoustic_branch_is_that_of_the_original():
    tensors, blocks = golden(), encoder().acoustic_encoder.conv_blocks
    rows = padded("short")[:, None]
    for index, block in enumerate(blocks):
        if index == 1:
            unit = block.block[0]
            assert far(unit.block[0](rows), tensors["short.acoustic.block1.act0"]) < ROUNDING
            assert far(unit(rows), tensors["short.acoustic.block1.res0"]) < ROUNDING
        rows = block(rows)
        assert far(rows, tensors[f"short.acoustic.block{index}"]) < ROUNDING


@pytest.mark.long
@pytest.mark.parametrize("values", [1 << 9, 6720, 3 * 6720, 1 << 30])
def test_a_network_that_is_computed_in_small_parts_gives_the_same(monkeypatch, values):
    """Groups of channels, and stretches of time that end within a kernel."""
    monkeypatch.setattr(acoustic_encoder, "_GROUP_VALUES", values)
    acoustic = encoder().acoustic_encoder(padded("short"))
    assert far(acoustic.transpose(1, 2), golden()["short.acoustic"]) < ROUNDING


@each_row("case", CASES)
def test_both_branches_meet_as_in_the_original(case):
    model, tensors = encoder(), golden()
    acoustic = model.acoustic_encoder(padded(case))
    assert far(acoustic.transpose(1, 2), tensors[f"{case}.acoustic"]) < ROUNDING
    prior = model.fc_prior(tensors[f"{case}.concat"])
    assert far(prior, tensors[f"{case}.prior"]) < ROUNDING
    projected = model.project_in(prior)
    assert far(projected, tensors[f"{case}.fsq.projected"]) < ROUNDING
    assert far(bounded(projected), tensors[f"{case}.fsq.bound1"]) < ROUNDING
    assert far(bounded(bounded(projected)), tensors[f"{case}.fsq.bound2"]) < ROUNDING
    assert torch.equal(codes_of(tensors[f"{case}.fsq.projected"]), tensors[f"{case}.codes"][:, 0].long())


def test_edges_between_digits_are_those_of_two_bounds():
    edges = torch.tensor([-0.8094, -0.2434, 0.4079])
    values = torch.stack((edges - 2e-4, edges + 2e-4)).flatten()[:, None].repeat(1, 8)
    digits = codes_of(values) & 3
    assert digits.tolist() == [0, 1, 2, 1, 2, 3]


@pytest.mark.long
@each_row(
    ("samples", "tokens"),
    [(399, 1), (400, 1), (640, 2), (719, 2), (720, 2), (960, 3), (6399, 19), (6400, 20), (6401, 20)],
)
def test_a_recording_has_as_many_tokens_as_in_the_original(samples, tokens):
    audio = np.resize(golden()["short.audio_in"].numpy(), samples)
    assert encoder().encode(audio).shape == (tokens,)


@pytest.mark.long
def test_recordings_of_one_length_in_a_batch_are_as_alone():
    model, long = encoder(), golden()["long.audio_in"]
    parts = [long[:6400], long[6400:12800], long[12800:19200]]
    samples = torch.stack([model.padded(part) for part in parts])
    features = torch.stack([torch.from_numpy(w2v_bert_features(row.numpy())) for row in samples])
    together = model(features, samples)
    assert [row.tolist() for row in together] == [model.encode(part.numpy()).tolist() for part in parts]


def test_digital_silence_has_tokens():
    codes = encoder().encode(np.zeros(16_000, np.float32))
    assert codes.shape == (50,)


def test_the_filter_is_that_of_the_original():
    assert far(filter_taps(), golden()["filter.taps"]) < 1e-7


# Published weights


@cache
def published():
    """The names and shapes of the release, without memory behind them; the filters are as they are."""
    shapes = json.loads((FOLDER / "names_full.json").read_text())
    taps = filter_taps()[None, None]
    return {
        name: taps if name.endswith(".filter") else torch.empty(shape, device="meta") for name, shape in shapes.items()
    }


def test_the_release_fits_by_every_name_and_shape():
    config = encoder_config(published())
    assert config == NeuCodecEncoderConfig()
    model = load_neucodec_encoder(config, published())
    assert 440e6 < sum(parameter.numel() for parameter in model.parameters()) < 445e6


def test_what_is_missing_is_named():
    state = {name: tensor for name, tensor in weights().items() if "layers.3.ffn2.output" not in name}
    with pytest.raises(WeightsError, match=r"semantic\.encoder\.layers\.3\.ffn2\.output_dense\.weight"):
        load_neucodec_encoder(encoder_config(weights()), state)


def test_a_filter_of_another_model_is_refused():
    name = "CodecEnc.conv_final_block.0.upsample.filter"
    taps = filter_taps()[None, None]
    load_neucodec_encoder(encoder_config(weights()), weights() | {name: taps})
    with pytest.raises(WeightsError, match="upsample"):
        load_neucodec_encoder(encoder_config(weights()), weights() | {name: taps.flip(2).roll(1)})


@pytest.mark.long
def test_layers_that_are_not_used_do_not_matter():
    state = {
        name: tensor + 1 if ".layers.16." in name or "masked_spec" in name else tensor
        for name, tensor in weights().items()
    }
    other = load_neucodec_encoder(encoder_config(state), state)
    audio = golden()["short.audio_in"].numpy()
    assert torch.equal(other.encode(audio), encoder().encode(audio))
