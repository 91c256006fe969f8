"""How near the original's samples and ours are to what the same arithmetic gives in double precision.

A vocoder's phase adds up pitches and multiplies the sum by 3,016, so that rounding in the seventh digit of a pitch is
heard in the third digit of a sample. The original rounds: its recorded samples are not its formula's. Ours round
differently, for the pitch is computed in double precision. So the two are not held to each other but, each, to the
exact result. What they share is held to 1e-4 and less where it is tested by itself: the source of a given pitch, the
samples of a given source.

Measured on x86_64 against double precision, the greatest error and the root of the mean square:

    version 2, 26 frames of mel       original 2.7e-3, 1.1e-4   ours 2.0e-3, 7.7e-5   (from each other 8.8e-4)
    version 2, 60 frames of mel       original 1.3e-2, 2.6e-4   ours 8.6e-3, 2.3e-4
    version 2, 398 frames, streamed   original 2.1e-2, 4.9e-4   ours 2.6e-2, 4.8e-4
    version 2, 199 tokens, streamed   original 4.7e-2, 1.0e-3   ours 1.7e-2, 3.5e-4
    version 3, 199 tokens, streamed   original 9.2e-1, 1.2e-2   ours 1.0e-1, 1.6e-3
"""

import math
from functools import cache

import pytest
import torch
from torch.nn import functional

from helpers.cosyvoice_golden import (
    TINY_HIFT,
    causal_hift,
    causal_hift_noise,
    flow,
    flow_prompt,
    golden,
    hift,
    hift_noise,
    manifest,
    seeded,
)
from helpers.tables import each_row
from polyvox.models.cache import LayerCache
from polyvox.models.cosyvoice.noise import flow_noise
from polyvox.models.hift.causal import load_causal_hift
from polyvox.models.hift.model import load_hift
from polyvox.models.hift.source import HarmonicSource

DOUBLE = torch.float64
HALF_STEP = 2.0**-24
"""The greatest relative error of rounding to single precision."""
PER_TURN = 2 * math.pi * 480


class ExactSource(HarmonicSource):
    """The source in double precision throughout, written down once more so as to share no rounding with ours."""

    def cycles(self, pitch, before=None):
        harmonics = torch.arange(1, self.config.harmonics + 1, dtype=DOUBLE)
        turns = (pitch.double()[..., None] * harmonics / self.config.sample_rate).frac().cumsum(dim=1)
        return turns if before is None else turns + before

    def forward(self, pitch, turns, noise):
        phase = PER_TURN * turns.transpose(1, 2)
        if self.interpolate:
            phase = functional.interpolate(phase, scale_factor=480.0, mode="linear")
        else:
            phase = phase.repeat_interleave(480, dim=2)
        voiced = (pitch > 10).repeat_interleave(480, dim=1)[..., None]
        waves = torch.where(voiced, 0.1 * phase.sin().transpose(1, 2) + 0.003 * noise.double(), noise.double() / 30)
        return self.mix(waves)[..., 0].tanh()


@cache
def exact_hift(version):
    loader = load_hift if version == 2 else load_causal_hift
    model = loader(TINY_HIFT, golden(version, "weights_hift"), DOUBLE)
    exact = ExactSource(model.source.config, interpolate=version == 2)
    exact.mix = model.source.mix.double()
    model.source = exact
    return model


def rms(pieces):
    return torch.cat([piece.flatten() for piece in pieces]).square().mean().sqrt().item()


def errors(pieces, exact):
    return [piece.double() - truth for piece, truth in zip(pieces, exact, strict=True)]


def assert_as_near(ours, theirs, exact, *, farthest):
    """All pieces of both are near the exact ones, and ours on the whole as near as theirs but for luck in rounding."""
    own, original = errors(ours, exact), errors(theirs, exact)
    for index, far in enumerate(farthest):
        assert rms(own[index : index + 1]) < far
        assert rms(original[index : index + 1]) < far
    assert rms(own) < 2 * rms(original)


@torch.no_grad()
def test_version_2s_pitch_is_the_originals_but_for_single_precision():
    mel, recorded = golden(2, "hift")["in.mel"], golden(2, "hift")["f0"]
    exact = exact_hift(2).pitch(mel.double(), LayerCache())
    assert (hift().pitch(mel, LayerCache()) - exact).abs().max() < 1e-9
    # Measured: 1.4e-4 Hz at up to 341 Hz.
    assert ((recorded - exact).abs() / exact).max() < 1e-5


def slack(pitch, of_pitch, *, summed_in_single):
    """How far a source in single precision may be from the exact one, frame by frame: the phase's errors, weighted."""
    source = exact_hift(2).source
    harmonics = torch.arange(1, 10, dtype=DOUBLE)
    frames = torch.arange(1, pitch.shape[1] + 1, dtype=DOUBLE)[:, None]
    step = pitch.double()[..., None] * harmonics / 24_000
    turns = step.cumsum(dim=1)
    in_steps = ((of_pitch[..., None] * harmonics / 24_000) + 3 * HALF_STEP * step).cumsum(dim=1)
    in_sum = frames * HALF_STEP * turns if summed_in_single else HALF_STEP * turns
    phase = PER_TURN * (in_steps + in_sum + 5 * HALF_STEP * turns)
    return (0.1 * phase * source.mix.weight.abs()).sum(dim=-1) + 1e-6


@torch.no_grad()
def test_both_sources_of_version_2_are_within_their_own_rounding_of_the_exact_one():
    recorded, noise = golden(2, "hift"), hift_noise(seeded(31), 26)
    exact_pitch = exact_hift(2).pitch(recorded["in.mel"].double(), LayerCache())
    exact = exact_hift(2).excitation(recorded["in.mel"].double(), noise)
    theirs, ours = recorded["infer.source"][:, 0], hift().excitation(recorded["in.mel"], noise)
    allowed_them = slack(exact_pitch, (recorded["f0"] - exact_pitch).abs(), summed_in_single=True)
    allowed_us = slack(exact_pitch, HALF_STEP * exact_pitch, summed_in_single=False)
    assert allowed_us.max() < 2e-3
    for source, allowed in ((theirs, allowed_them), (ours, allowed_us)):
        # A sample is between two frames' phases, so the later of the two bounds it.
        bound = torch.cat((allowed[:, 1:], allowed[:, -1:]), dim=1).repeat_interleave(480, dim=1)
        assert ((source - exact).abs() <= bound).all()


@pytest.mark.long
@torch.no_grad()
def test_both_renderings_of_a_mel_by_version_2_are_near_the_exact_one():
    recorded, noise = golden(2, "hift"), hift_noise(seeded(31), 26)
    exact, _ = exact_hift(2).step(recorded["in.mel"].double(), noise, final=True)
    ours, _ = hift().step(recorded["in.mel"], noise, final=True)
    assert_as_near([ours], [recorded["infer.wav"]], [exact], farthest=[4e-4])
    assert max((each - exact).abs().max() for each in (ours, recorded["infer.wav"])) < 1e-2
    offline, noise = golden(2, "loop_offline"), hift_noise(seeded(777), 60)
    exact, _ = exact_hift(2).step(offline["00.flow_mel"].double(), noise, final=True)
    ours, _ = hift().step(offline["00.flow_mel"], noise, final=True)
    assert_as_near([ours], [offline["00.pcm"]], [exact], farthest=[1e-3])


THINNED = {2: 5}
"""Of the third chunk, the longest, every fifth sample is kept."""


def recorded_samples(version):
    stream, thinned = golden(version, "loop_stream"), golden(version, "stages")["loop_stream.02.pcm"]
    return [stream["00.pcm"], stream["01.pcm"], thinned, stream["03.pcm"]]


def streamed(version, model, mels, dtype):
    """The samples of a stream on the original's noise, thinned as those recorded are."""
    generator = seeded(manifest(2)["loop"]["stream"]["seed_before_tts"])
    state, samples = None if version == 2 else model.start(causal_hift_noise().to(dtype)), []
    for index, mel in enumerate(mels):
        final = manifest(version)["loop"]["stream"]["schedule"][index]["finalize"]
        if version == 2:
            noise = hift_noise(generator, mel.shape[2] + (8 if index else 0))
            made, state = model.step(mel.to(dtype), noise, state, final=final)
        else:
            made, state = model.step(mel.to(dtype), state, final=final)
        assert made.shape[1] == manifest(version)["loop"]["stream"]["schedule"][index]["pcm_samples"]
        samples.append(made[:, :: THINNED.get(index, 1)])
    return samples


@pytest.mark.long
@torch.no_grad()
def test_both_streams_of_version_2_are_near_the_exact_one():
    recorded = golden(2, "loop_stream")
    mels = [recorded[f"0{index}.hift_mel"][:, :, 8 if index else 0 :] for index in range(4)]
    exact = streamed(2, exact_hift(2), mels, DOUBLE)
    assert_as_near(streamed(2, hift(), mels, torch.float32), recorded_samples(2), exact, farthest=[2e-3] * 4)


@cache
def mels_of_tokens(version, calls, dtype):
    """The new frames of the first calls of the recorded loop, each of which computes all tokens so far."""
    tokens, mels, offset = golden(version, "loop_stream")["token"], [], 0
    for call in manifest(version)["loop"]["stream"]["schedule"][:calls]:
        known, streaming, final = tokens[:, : call["tokens_in"]], call["streaming"], call["finalize"]
        mel = flow(version, dtype=dtype).render(
            flow_prompt(version), known, flow_noise(), streaming=streaming, final=final
        )
        mels.append(mel[:, :, offset:])
        offset = mel.shape[2]
    return mels


@pytest.mark.slow
@each_row(("version", "farthest"), [(2, [5e-3] * 2), (3, [6e-3, 2e-2])])
@torch.no_grad()
def test_from_tokens_on_both_are_near_the_exact_samples(version, farthest):
    """In version 3 the phase runs on through all chunks, and so does its error; version 2 begins each chunk anew."""
    calls = len(farthest)
    exact = streamed(version, exact_hift(version), mels_of_tokens(version, calls, DOUBLE), DOUBLE)
    model = hift() if version == 2 else causal_hift()
    ours = streamed(version, model, mels_of_tokens(version, calls, torch.float32), torch.float32)
    assert_as_near(ours, recorded_samples(version)[:calls], exact, farthest=farthest)
