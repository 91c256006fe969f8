"""From tokens to samples: the original's recorded loop, and our own, in which no chunk is computed twice."""

import pytest
import torch

from helpers.cosyvoice_golden import (
    assert_near,
    causal_hift,
    causal_hift_noise,
    flow,
    flow_prompt,
    golden,
    manifest,
)
from polyvox.models.cosyvoice.noise import flow_noise

VERSIONS = pytest.mark.parametrize("version", [2, 3])
DOUBLE = torch.float64
FEW = 2
"""Steps of the solver, where one of our results is held to another."""


def recorded_mels(version, chunks):
    """The new frames of each call, as the original handed them to its vocoder."""
    recorded = golden(version, "loop_stream")
    if version == 2:
        return [recorded[f"0{index}.hift_mel"][:, :, 8 if index else 0 :] for index in range(chunks)]
    return list(recorded["03.hift_mel"].split([74, 100, 200, 24], dim=2))


@pytest.mark.long
@VERSIONS
def test_the_recorded_loop_from_tokens_to_mel(version):
    """The original's scheme: every call computes all tokens so far, the last one with full attention."""
    tokens, recorded = golden(version, "loop_stream")["token"], recorded_mels(version, 4)
    schedule = manifest(version)["loop"]["stream"]["schedule"]
    for index in (0, 3):
        call, offset = schedule[index], sum(mel.shape[2] for mel in recorded[:index])
        known, streaming, final = tokens[:, : call["tokens_in"]], call["streaming"], call["finalize"]
        mel = flow(version).render(flow_prompt(version), known, flow_noise(), streaming=streaming, final=final)
        assert_near(mel[:, :, offset:], recorded[index])


@pytest.mark.long
@VERSIONS
def test_a_stream_needs_no_second_look_at_what_the_recorded_loop_recomputes(version):
    tokens = golden(version, "loop_stream")["token"]
    state = flow(version).start(flow_prompt(version), flow_noise())
    for piece, theirs in zip(tokens[:, :190].split([40, 50, 100], dim=1), recorded_mels(version, 3), strict=False):
        mel, state = flow(version).step(piece, state)
        assert_near(mel, theirs)


@pytest.mark.long
def test_version_3_speaks_while_it_flows_and_says_what_the_whole_says():
    """In double precision, where nothing hides: tokens in four pieces, frames as they come, the samples of one pass."""
    model, vocoder, prompt = flow(3, FEW, DOUBLE), causal_hift(DOUBLE), flow_prompt(3)
    tokens = golden(3, "loop_stream")["token"][:, :100]
    whole = model.render(prompt, tokens, flow_noise(), streaming=True, final=True)
    expected, _ = vocoder.step(whole, vocoder.start(causal_hift_noise()), final=True)
    flowing, speaking, heard = model.start(prompt, flow_noise()), vocoder.start(causal_hift_noise()), []
    for index, piece in enumerate(tokens.split([40, 25, 20, 15], dim=1)):
        mel, flowing = model.step(piece, flowing, final=index == 3)
        samples, speaking = vocoder.step(mel, speaking, final=index == 3)
        heard.append(samples)
    assert_near(torch.cat(heard, dim=1), expected, 1e-6)


@pytest.mark.long
@VERSIONS
def test_in_double_precision_a_stream_is_the_one_pass(version):
    model, prompt = flow(version, FEW, DOUBLE), flow_prompt(version)
    tokens = golden(version, "loop_stream")["token"][:, :100]
    whole = model.render(prompt, tokens, flow_noise(), streaming=True, final=True)
    state, mels = model.start(prompt, flow_noise()), []
    for index, piece in enumerate(tokens.split([40, 25, 35], dim=1)):
        mel, state = model.step(piece, state, final=index == 2)
        mels.append(mel)
    assert_near(torch.cat(mels, dim=2), whole, 1e-9)
