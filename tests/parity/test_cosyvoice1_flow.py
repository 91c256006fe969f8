"""CosyVoice 1's flow against the original, part by part and as a whole, to 1e-4."""

import json

import pytest
import torch

from helpers.cosyvoice1_golden import TINY_FLOW, flow1, flow1_prompt
from helpers.cosyvoice_golden import FOLDER, assert_near, golden
from helpers.tables import each_row
from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache
from polyvox.models.cosyvoice import unet_v1
from polyvox.models.cosyvoice.flow_v1 import Flow1Config, FlowOverlap, frames_of, load_flow1
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.loading import load, renamed, under


def test_tokens_are_encoded_and_stretched_to_frames():
    given, prompt = golden(1, "flow"), flow1_prompt("flow", "in.")
    encoder, tokens = flow1().token_encoder, torch.cat((prompt.tokens, given["in.token"]), dim=1)
    assert_near(encoder.encode(tokens).transpose(1, 2), given["encoder.proj"], 1e-5)
    assert_near(encoder(tokens, 15, 26), given["regulator.out"], 1e-5)


@each_row(("prompt", "frames", "tokens"), [(0, 0, 70), (15, 26, 41), (15, 26, 40), (15, 26, 12)])
def test_the_prompt_and_the_ends_of_a_chunk_are_stretched_by_themselves(prompt, frames, tokens):
    given, name = golden(1, "flow"), f"reg_case_{prompt}_{tokens}"
    stretched = flow1().token_encoder.stretch(given[f"{name}.in"].transpose(1, 2), prompt, frames)
    assert_near(stretched, given[f"{name}.interp"], 1e-6)
    if f"{name}.out" in given:
        assert_near(flow1().token_encoder.regulate(stretched).transpose(1, 2), given[f"{name}.out"], 1e-5)


def test_frames_of_tokens_are_rounded_as_the_original_rounds_them():
    assert [frames_of(tokens) for tokens in (1, 2, 20, 41, 57, 120, 357)] == [1, 3, 34, 70, 98, 206, 614]


def test_the_estimator_takes_an_odd_number_of_frames():
    given = golden(1, "flow")
    weights = under("time.", renamed(unet_v1.RENAMED, under("decoder.estimator.", golden(1, "weights_flow"))))
    time = load(lambda: unet_v1.UNet1Time(TINY_FLOW.estimator), weights)
    assert_near(time.embed(given["est.t"]), given["est.mid.time"], 1e-5)
    point = FlowPoint(given["est.x"], given["est.mu"], given["est.spk"], given["est.cond"]).with_unconditional()
    moment, frames = time(given["est.t"])[0], given["est.x"].shape[2]
    assert frames % 2 == 1
    velocity = flow1().estimator(point, moment, LayerCache(update=False), BlockCausalMask(frames))
    assert_near(velocity, given["est.out"], 5e-5)


def test_a_chunk_in_one_pass():
    given, prompt = golden(1, "flow"), flow1_prompt("flow", "in.")
    assert_near(flow1().embed_speaker(prompt.embedding), given["spk_proj"], 1e-6)
    mel, overlap = flow1().step(given["in.token"], prompt, given["infer.noise"])
    assert_near(mel, given["infer.mel"], 5e-5)
    assert_near(torch.stack((overlap.noise, overlap.mu), dim=-1), given["infer.cache"], 1e-5)


@pytest.mark.long
@torch.inference_mode()
def test_in_bfloat16_the_mel_moves_by_little_of_its_spread():
    given, prompt = golden(1, "flow"), flow1_prompt("flow", "in.")
    tokens = given["in.token"][:, :12]
    noise = given["infer.noise"][:, :, : prompt.mel.shape[2] + frames_of(12)]
    exact, rounded = (flow1(dtype).step(tokens, prompt, noise)[0] for dtype in (torch.float32, torch.bfloat16))
    share = ((rounded - exact).square().mean().sqrt() / exact.std()).item()
    assert 0 < share < 0.03


def test_the_chunk_before_replaces_noise_and_mu_of_the_frames_in_common():
    given, prompt = golden(1, "flow"), flow1_prompt("flow", "in.")
    taken = FlowOverlap(torch.zeros(1, 80, 60), torch.ones(1, 80, 60))
    _, overlap = flow1().step(given["in.token"], prompt, given["infer.noise"], taken)
    assert overlap.noise[:, :, :26].abs().max() == 0
    assert overlap.mu[:, :, :26].min() == 1
    assert_near(overlap.noise[:, :, 26:], given["infer.noise"][:, :, -34:], 0)


def test_noise_of_another_length_is_refused():
    given, prompt = golden(1, "flow"), flow1_prompt("flow", "in.")
    with pytest.raises(ValueError, match="covers 145 frames; 146 are needed"):
        flow1().step(given["in.token"], prompt, given["infer.noise"][:, :, 1:])


@pytest.mark.long
def test_the_released_weights_fit():
    shapes = json.loads((FOLDER / "cosyvoice1" / "released_shapes.json").read_text())["flow"]
    model = load_flow1(Flow1Config(), {name: torch.empty(shape, device="meta") for name, shape in shapes.items()})
    assert model.token_encoder.input_embedding.weight.shape == (4096, 512)
