"""Intermediate tensors of CosyVoice's networks against the original's.

Of every recorded tensor some sixteen to thirty positions are kept, spread over its length.
"""

from contextlib import contextmanager

import pytest
import torch

from helpers.cosyvoice_golden import (
    TINY_DIT,
    TINY_UNET,
    TOLERANCE,
    assert_near,
    causal_hift,
    causal_hift_noise,
    flow,
    flow_prompt,
    golden,
    hift,
    lm,
    lm_prompt,
    thinned,
)
from helpers.tables import each_row
from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache
from polyvox.models.cosyvoice import dit, unet
from polyvox.models.cosyvoice.noise import flow_noise
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.loading import renamed, under
from polyvox.models.qwen.model import QwenState

VERSIONS = pytest.mark.parametrize("version", [2, 3])


@contextmanager
def observed(outputs, inputs=None):
    """The outputs, or inputs, of the named modules at their first call."""
    tensors, hooks = {}, []

    def keep(name, tensor):
        tensors.setdefault(name, tensor)

    for name, module in outputs.items():
        hooks.append(module.register_forward_hook(lambda _, given, made, name=name: keep(name, made)))
    for name, module in (inputs or {}).items():
        hooks.append(module.register_forward_pre_hook(lambda _, given, name=name: keep(name, given[0])))
    try:
        yield tensors
    finally:
        for hook in hooks:
            hook.remove()


def assert_stages(tensors, version, prefix, along):
    """Every stage is the original's; `along` is the axis of time, for all or by name."""
    recorded = {name for name in golden(version, "stages") if name.startswith(prefix)}
    assert recorded == {prefix + name for name in tensors}
    for name, ours in tensors.items():
        theirs = golden(version, "stages")[prefix + name]
        # Before the exponential, a vocoder's numbers go to thirty and more.
        assert_near(thinned(ours, along.get(name, along[""])), theirs, TOLERANCE * max(1.0, theirs.abs().max().item()))


@torch.no_grad()
def test_version_2s_encoder():
    tokens = torch.cat((golden(2, "flow")["in.prompt_token"], golden(2, "flow")["in.token"]), dim=1)
    encoder = flow(2).token_encoder.encoder
    stages = {
        "embed": encoder.embed,
        "look": encoder.lookahead,
        "enc0": encoder.encoders[0],
        "encl": encoder.encoders[-1],
        "up": encoder.up_conv,
        "up0": encoder.up_encoders[0],
        "upl": encoder.up_encoders[-1],
    }
    with observed(stages, {"token_emb": encoder}) as tensors:
        flow(2).token_encoder.encode(tokens, tokens[:, :0], LayerCache(), BlockCausalMask(tokens.shape[1]))
    assert_near(thinned(tensors.pop("token_emb"), 1), golden(2, "stages")["token_emb"])
    assert_stages(tensors, 2, "encoder.nonstream.", {"": 1, "up": 2})


@torch.no_grad()
def test_version_3s_tokens():
    tokens = torch.cat((golden(3, "flow")["in.prompt_token"], golden(3, "flow")["in.token"]), dim=1)
    with observed({}, {"token_emb": flow(3).token_encoder.lookahead}) as tensors:
        flow(3).token_encoder.look_ahead(tokens, tokens[:, :0], LayerCache())
    assert_near(thinned(tensors["token_emb"], 1), golden(3, "stages")["token_emb"])


def recorded_call(version):
    """The recorded input of the estimator, and its time conditioning."""
    recorded = golden(version, "flow")
    point = FlowPoint(
        mel=recorded["est.x"],
        mu=torch.cat((recorded["mu"], torch.zeros_like(recorded["mu"]))),
        speaker=torch.cat((recorded["spk_proj"], torch.zeros_like(recorded["spk_proj"]))),
        condition=recorded["est.cond"],
    )
    names, network = (unet.RENAMED, unet.UNetTime(TINY_UNET)) if version == 2 else (dit.RENAMED, dit.DiTTime(TINY_DIT))
    weights = renamed(names, under("decoder.estimator.", golden(version, "weights_flow")))
    network.load_state_dict(under("time.", weights))
    return point, network(recorded["est.t"][:1])[0]


@torch.no_grad()
def test_version_2s_estimator():
    estimator, (point, moment) = flow(2).estimator, recorded_call(2)
    stages = {
        "down_res": estimator.down.residual,
        "down_tf0": estimator.down.transformers[0],
        "down_conv": estimator.down_conv,
        "mid_last": estimator.middle[-1].transformers[-1],
        "up_res": estimator.up.residual,
        "up_conv": estimator.up_conv,
        "final_block": estimator.final,
    }
    with observed(stages) as tensors:
        estimator(point, moment, LayerCache(), BlockCausalMask(point.mel.shape[2]))
    assert_stages(tensors, 2, "est.full.", {"": 2, "down_tf0": 1, "mid_last": 1})


@torch.no_grad()
def test_version_3s_estimator():
    estimator, (point, moment) = flow(3).estimator, recorded_call(3)
    blocks = estimator.blocks
    stages = {"block0_attn": blocks[0].attn, "block0": blocks[0], "block_last": blocks[-1]}
    with observed(stages, {"input_embed": blocks[0], "norm_out": estimator.proj_out}) as tensors:
        estimator(point, moment, LayerCache(), BlockCausalMask(point.mel.shape[2]))
    assert_stages(tensors, 3, "est.full.", {"": 1})


@pytest.mark.long
@VERSIONS
@torch.no_grad()
def test_the_solver_stands_where_the_originals_stands_at_every_step(version):
    seen = []
    hook = flow(version).estimator.register_forward_pre_hook(lambda _, given: seen.append(given[0].mel[:1]))
    flow(version).render(
        flow_prompt(version), golden(version, "flow")["in.token"], flow_noise(), streaming=False, final=True
    )
    hook.remove()
    assert_near(thinned(torch.cat(seen), 2), golden(version, "stages")["x_steps"])


def filter_stages(model):
    stages = {"conv_pre": model.conv_pre, "conv_post": model.conv_post}
    for stage in range(3):
        stages[f"ups{stage}"] = model.ups[stage]
        stages[f"source_down{stage}"] = model.source_downs[stage]
        stages[f"source_res{stage}"] = model.source_resblocks[stage]
        for kind in range(3):
            stages[f"res{stage}{kind}"] = model.resblocks[3 * stage + kind]
    return stages


@torch.no_grad()
def test_version_2s_vocoder():
    recorded = golden(2, "hift")
    with observed(filter_stages(hift().filter)) as tensors:
        hift()(recorded["in.mel"], recorded["infer.source"][:, 0])
    assert_stages(tensors, 2, "infer.", {"": 2})
    voiced = (hift().pitch(recorded["in.mel"], LayerCache()) > 10).float().repeat_interleave(480, dim=1)
    assert torch.equal(thinned(voiced[..., None], 1), golden(2, "stages")["source.uv"])


@each_row("name", ["final", "partial"])
@torch.no_grad()
def test_version_3s_vocoder(name):
    model, frames = causal_hift(), golden(3, "hift")["in.mel"]
    with observed({**filter_stages(model.filter), "source": model.source}, {"sinegen": model.source.mix}) as tensors:
        model.step(frames, model.start(causal_hift_noise()), final=name == "final")
    waves, source = tensors.pop("sinegen"), tensors.pop("source")
    assert_near(thinned(waves, 1), golden(3, "stages")[f"sinegen.{name}"])
    if name == "partial":
        assert_near(thinned(source, 1), golden(3, "stages")["source.partial"][..., 0])
    assert_stages(tensors, 3, f"infer.{name}.", {"": 2})


def test_version_3s_noise_is_the_one_that_the_original_makes_when_it_is_built():
    waves = golden(3, "stages")["hift_noise.sine_waves"]
    assert_near(thinned(causal_hift_noise()[:, :191_040], 1), waves, 1e-6)


@pytest.mark.long
@torch.no_grad()
def test_version_3_gives_out_what_the_original_gives_out_when_it_renders_all_once_more():
    """The original renders all frames so far in every call; we go on. Both say the same."""
    frames, state, tensors = golden(3, "hift")["chunked.mel"], causal_hift().start(causal_hift_noise()), []
    for index, piece in enumerate(frames.split([38, 30, 30, 12], dim=2)):
        samples, state = causal_hift().step(piece, state, final=index == 3)
        tensors.append(samples)
        so_far = torch.cat(tensors, dim=1)
        assert_near(thinned(so_far, 1), golden(3, "stages")[f"chunked.wav{index}"], 2e-4)


@VERSIONS
@torch.no_grad()
def test_the_speech_head_at_every_row_of_the_prompt(version):
    hidden, _ = lm(version).backbone(lm(version).embed_prompt(lm_prompt(version)), QwenState())
    assert_near(thinned(lm(version).llm_decoder(hidden), 1), golden(version, "stages")["prefill.logits"])
