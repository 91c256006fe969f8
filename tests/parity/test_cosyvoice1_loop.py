"""CosyVoice 1 from tokens to samples: the original's recorded runs, offline and streamed, by our policy and state."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from helpers.cosyvoice1_golden import flow1, flow1_prompt, hift1, recorded_noise, start_phase, vocoder_noise
from helpers.cosyvoice_golden import assert_near, golden, manifest
from helpers.tables import each_row
from polyvox.engines.cosyvoice.decoder.hops import Hops
from polyvox.engines.cosyvoice.decoder.token2wav_v1 import Token2Wav1
from polyvox.runtime.placement import CPU
from polyvox.types import ChunkPolicy, PreparedVoice

STEP = 1 / 24_000
"""The recorded samples are stored in steps of this size."""


class Recorded:
    """The draws that the original was given in one run, and the mels that went by."""

    def __init__(self, part):
        self.given = golden(1, part)
        self.schedule = manifest(1)["loop"]["stream" if part == "loop_stream" else "offline"]["schedule"]

    def flow_noise(self, state, frames):
        noise = recorded_noise(self.given[f"0{state.steps}.flow_noise_i8"])
        assert noise.shape[2] == frames
        return noise

    def vocoder_noise(self, state, frames):
        call = self.schedule[state.steps]
        assert call["hift_frames"] == frames
        return vocoder_noise(call["hift_noise_seed"], frames)

    def phase(self, state):
        return start_phase(self.given[f"0{state.steps}.phase"])


def recorded_voice(part):
    given = golden(1, part)
    arrays = {
        "tokens": given["prompt_token"][0].numpy(),
        "mel": given["prompt_feat"][0].T.contiguous().numpy(),
        "embedding": given["embedding"][0].numpy(),
    }
    return PreparedVoice("cosyvoice1", "recorded", arrays)


def spoken(token2wav, voice, tokens, policy):
    """All results of a stream, cut by the policy as the synthesizer cuts it."""
    hops, state, done, results = Hops(policy, 0, 1, 20), token2wav.start(voice), 0, []
    while True:
        final = len(tokens) < hops.needed
        known = len(tokens) if final else hops.needed
        results.append(token2wav.step(tokens[done:known], state, final=final))
        state, done, hops = results[-1].state, known, hops.after()
        if final:
            return results


def assert_samples(ours, stored):
    """Rounding in a pitch moves single samples; as a whole they agree."""
    theirs = (stored[0].float() * STEP).clamp(-1, 1).numpy()
    ours = ours[: len(theirs)]
    assert len(ours) == len(theirs)
    error = np.abs(ours - theirs)
    assert np.sqrt(np.mean(error**2)) < RMS
    assert error.max() < MOST


RMS, MOST = 1e-3, 3e-2


@pytest.mark.long
def test_the_recorded_stream():
    given, recorded = golden(1, "loop_stream"), Recorded("loop_stream")
    token2wav = Token2Wav1(flow1(), hift1(), CPU, lambda flow, vocoder: recorded)
    tokens = given["token"][0].tolist()
    results = spoken(token2wav, recorded_voice("loop_stream"), tokens, ChunkPolicy(100, 1.0, 200))
    schedule = manifest(1)["loop"]["stream"]["schedule"]
    assert [len(result.pcm) for result in results] == [call["pcm_samples"] for call in schedule]
    for index in (0, 1, 3):
        assert_samples(results[index].pcm, given[f"0{index}.pcm_i16"])


@pytest.mark.long
def test_the_flow_of_the_recorded_stream():
    given, overlap, start = golden(1, "loop_stream"), None, 0
    prompt, tokens = flow1_prompt("loop_stream"), given["token"]
    for index, count in enumerate((120, 120, 120, 57)):
        noise = recorded_noise(given[f"0{index}.flow_noise_i8"])
        mel, overlap = flow1().step(tokens[:, start : start + count], prompt, noise, overlap)
        start += 100
        if f"0{index}.flow_mel" in given:
            assert_near(mel, given[f"0{index}.flow_mel"])


@pytest.mark.long
def test_the_recorded_run_without_streaming():
    given, recorded = golden(1, "loop_offline"), Recorded("loop_offline")
    token2wav = Token2Wav1(flow1(), hift1(), CPU, lambda flow, vocoder: recorded)
    voice, tokens = recorded_voice("loop_offline"), given["token"][0].tolist()
    for policy in (ChunkPolicy(100, 1.0, 100), ChunkPolicy(2000, 1.0, 2000)):
        (result,) = spoken(token2wav, voice, tokens, policy)
        assert result.frames == 82
        assert_samples(result.pcm, given["00.pcm_i16"])


@pytest.mark.long
def test_the_recorded_run_at_another_speed_up_to_its_mel():
    """The server changes the speed of samples; the original stretches the mel, which is all that differs."""
    given, prompt = golden(1, "loop_offline_speed"), flow1_prompt("loop_offline")
    mel, _ = flow1().step(golden(1, "loop_offline")["token"], prompt, recorded_noise(given["00.flow_noise_i8"]))
    stretched = functional.interpolate(mel, size=int(mel.shape[2] / 0.8), mode="linear")
    assert_near(stretched, given["00.hift_mel"])


@each_row("case", manifest(1)["loop"]["schedule_cases"]["cases"])
def test_chunks_are_cut_where_the_original_cuts_them(case):
    policy = ChunkPolicy(100, float(case["stream_scale_factor"]), 200)
    hops, start, cut = Hops(policy, 0, 1, 20), 0, []
    while case["tokens"] >= hops.needed:
        cut.append(hops.needed - start)
        start, hops = hops.end, hops.after()
    cut.append(case["tokens"] - start)
    assert cut == [tokens for tokens, *_ in case["chunks"]]


@pytest.mark.long
def test_a_stream_does_not_change_the_state_that_it_continues():
    token2wav, voice = Token2Wav1(flow1(), hift1(), CPU), recorded_voice("loop_stream")
    tokens, start = golden(1, "loop_stream")["token"][0].tolist(), token2wav.start(voice)
    first = token2wav.step(tokens[:120], start, final=False)
    again = token2wav.step(tokens[:120], start, final=False)
    assert np.array_equal(first.pcm, again.pcm)
    ends = [token2wav.step(tokens[120:150], first.state, final=True).pcm for _ in range(2)]
    assert np.array_equal(*ends)
    assert torch.isfinite(torch.from_numpy(ends[0])).all()


def test_a_chunk_that_is_all_overlap_is_refused():
    token2wav = Token2Wav1(flow1(), hift1(), CPU)
    with pytest.raises(ValueError, match="needs more than 40 tokens"):
        token2wav.step([1] * 40, token2wav.start(recorded_voice("loop_stream")), final=False)
