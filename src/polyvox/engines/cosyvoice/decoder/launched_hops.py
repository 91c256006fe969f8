"""Hops that the device is still at work on, and their results."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState, Token2WavResult
from polyvox.engines.cosyvoice.decoder.stage_clock import StageClock
from polyvox.runtime.pinned_output import PendingOutput


@dataclass(frozen=True, slots=True)
class LaunchedHop:
    """One step of a stream: the numbers of its samples and mel frames, and the state after it."""

    samples: int
    frames: int
    state: DecoderState


@dataclass(frozen=True, slots=True, eq=False)
class LaunchedHops:
    """Steps of several streams, launched together."""

    hops: Sequence[LaunchedHop]
    pcm: PendingOutput
    """The samples of all, one stream behind the other."""
    clock: StageClock
    """Of flow and vocoder."""

    def wait_for_flow(self) -> None:
        """Wait until the vocoder alone is left."""
        self.clock.wait_for_first()

    def results(self) -> list[Token2WavResult]:
        """Wait for the samples. Another thread may do so than the one that launched them."""
        pieces = np.split(self.pcm.result(), np.cumsum([hop.samples for hop in self.hops])[:-1])
        seconds = self.clock.seconds(len(self.hops))
        return [
            Token2WavResult(piece, hop.frames, hop.state, *seconds)
            for piece, hop in zip(pieces, self.hops, strict=True)
        ]
