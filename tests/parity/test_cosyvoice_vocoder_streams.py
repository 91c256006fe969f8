"""Mel frames of many streams in one call of the vocoder: each stream sounds as it does alone."""

from functools import cache

import pytest
import torch
from torch.nn import functional

from helpers.cosyvoice_golden import causal_hift, causal_hift_noise, golden, hift, hift_noise, seeded
from helpers.replaying import Poisoned
from polyvox.engines.cosyvoice.decoder.decoder_stages import VocoderHop
from polyvox.engines.cosyvoice.decoder.vocoder_streams import VocoderFrames, VocoderStreams

pytestmark = pytest.mark.long

VERSIONS = pytest.mark.parametrize("version", [2, 3])
FRAMES = VocoderFrames(first=(24, 30), later=(10,), last=(16,))
CUTS = ([24, 10, 15, 5], [14, 10, 9, 4], [28, 8, 4], [40, 9], [12], [16, 9, 20])
"""How the frames of each stream arrive; some pieces are of captured lengths, some are padded, some too long."""
ROUNDING = 2e-4
"""In single precision: magnitudes are exponentials, and phases are sums of thousands of pitches."""


class Vocoders:
    """The vocoder of a version alone and over streams, on the same noise."""

    def __init__(self, version, slots=16):
        self.version, self.model = version, hift() if version == 2 else causal_hift()
        self.noise = causal_hift_noise() if version == 3 else torch.randn(1, 480 * 300, 9, generator=seeded(4))
        self.streams = VocoderStreams(self.model, self.noise, slots, FRAMES, (1, 4))
        self.streams.memory.fill_(float("nan"))

    def pieces(self, cut):
        return golden(3, "hift")["chunked.mel"][0, :, : sum(cut)].split(cut, dim=1)

    def noise_start(self, stream, turn):
        return 480 * (7 * stream + 13 * turn)

    def alone(self, stream, cut):
        """The stream without others, by the vocoder itself."""
        state, samples = None if self.version == 2 else self.model.start(self.noise), []
        for turn, mel in enumerate(self.pieces(cut)):
            given = []
            if self.version == 2:
                start = self.noise_start(stream, turn)
                given = [self.noise[:, start : start + 480 * (mel.shape[1] + (8 if state else 0))]]
            new, state = self.model.step(mel[None], *given, state, final=turn == len(cut) - 1)
            samples.append(new[0])
        return torch.cat(samples)

    def together(self, cuts):
        states, samples = dict.fromkeys(cuts), {stream: [] for stream in cuts}
        for turn in range(max(map(len, cuts.values()))):
            alive = [stream for stream, cut in cuts.items() if turn < len(cut)]
            hops = [
                VocoderHop(
                    self.pieces(cuts[stream])[turn],
                    states[stream],
                    turn == len(cuts[stream]) - 1,
                    self.noise_start(stream, turn),
                )
                for stream in alive
            ]
            for stream, result in zip(alive, self.streams.step(hops), strict=True):
                samples[stream].append(result.samples.clone())
                states[stream] = result.state
        return {stream: torch.cat(own) for stream, own in samples.items()}


@cache
def alone(version, stream):
    return Vocoders(version).alone(stream, CUTS[stream])


@VERSIONS
@pytest.mark.parametrize("captured", [False, True])
@torch.inference_mode()
def test_streams_at_different_places_are_vocoded_together(version, captured):
    replay, vocoders = Poisoned(), Vocoders(version)
    for call, rows in vocoders.streams.shapes if captured else ():
        vocoders.streams.capture(call, rows, replay)
    shapes = replay.recorded
    vocoders.streams.memory.fill_(float("nan"))
    samples = vocoders.together(dict(enumerate(CUTS)))
    for stream in range(len(CUTS)):
        torch.testing.assert_close(samples[stream], alone(version, stream), rtol=0, atol=ROUNDING)
    assert replay.recorded == shapes


@VERSIONS
@torch.inference_mode()
def test_a_stream_sounds_the_same_whoever_is_beside_it(version):
    vocoders = Vocoders(version)
    beside = vocoders.together({0: CUTS[0], 1: CUTS[1]})
    by_itself = vocoders.together({1: CUTS[1]})
    torch.testing.assert_close(beside[1], by_itself[1], rtol=0, atol=ROUNDING)


@torch.inference_mode()
def test_a_broken_stream_leaves_its_neighbours_as_they_are():
    vocoders = Vocoders(3)
    mel = vocoders.pieces(CUTS[0])[0]
    sound, broken = (VocoderHop(each, None, False, 0) for each in (mel, mel * float("nan")))
    first, second, third = (result.samples for result in vocoders.streams.step([sound, broken, sound]))
    assert not second.isfinite().all()
    assert torch.equal(first, third)
    assert first.isfinite().all()


@torch.inference_mode()
def test_an_utterance_of_nothing_has_no_samples():
    vocoders = Vocoders(3)
    (result,) = vocoders.streams.step([VocoderHop(torch.zeros(80, 0), None, True, 0)])
    assert result.samples.shape == (0,)
    assert result.state is None


@VERSIONS
@pytest.mark.parametrize("rendered", [0, 20])
@pytest.mark.parametrize(("left", "final"), [(30, True), (9, True), (2, True), (20, False), (12, False)])
@torch.inference_mode()
def test_padding_changes_neither_samples_nor_state(version, rendered, left, final):
    """In double precision, where nothing is lost in rounding."""
    model = hift(torch.float64) if version == 2 else causal_hift(torch.float64)
    mel, missing, generator = golden(3, "hift")["chunked.mel"], 40 - left, seeded(1)
    state = None if version == 2 else model.start(causal_hift_noise())

    def noise(frames, before):
        return [hift_noise(generator, frames + (8 if before else 0))] if version == 2 else []

    if rendered:
        _, state = model.step(mel[:, :, :rendered], *noise(rendered, None), state)
    rest, given = mel[:, :, rendered : rendered + left], noise(left, state)
    expected, after = model.step(rest, *given, state, final=final)
    longer = [functional.pad(each, (0, 0, 0, 480 * missing)) for each in given]
    filled, padding = functional.pad(rest, (0, missing)), torch.tensor([missing])
    samples, padded_after = model.step(filled, *longer, state, final=final, padding=padding)
    assert samples.shape[1] - expected.shape[1] == 480 * missing
    torch.testing.assert_close(samples[:, : expected.shape[1]], expected, rtol=0, atol=1e-8)
    if not final:
        for name in ("mel", "source", "samples") if version == 2 else ("mel", "cycles", "source", "sums", "weights"):
            torch.testing.assert_close(getattr(padded_after, name), getattr(after, name), rtol=0, atol=1e-7)
