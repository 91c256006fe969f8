"""Kokoro's front and Wren's decoder as one network."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from polyvox.engines.kokoro.render import RenderedChunk
from polyvox.engines.kokoro.request import ModelInput, ModelOutput, SynthesisRequest
from polyvox.engines.kokoro.wren.decoder import WrenDecoder
from polyvox.engines.kokoro.wren.heard import MARGIN, heard_frames
from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.engines.kokoro.wren.rendering import StreamRenderer
from polyvox.engines.kokoro.wren.source import HOP
from polyvox.types import Span

_FIRST_PIECE, _SECOND_PIECE, _LARGEST_PIECE = 24, 36, 108
"""In frames of 12.5 ms. The first piece ends behind the first word, and is at least so long. Larger ones cost less."""


class Front(Protocol):
    """Plans the chunks that Wren decodes."""

    def plan(self, item: ModelInput) -> UtterancePlan:
        """Durations, aligned text, pitch and energy."""


class WrenModel:
    """The front plans a whole chunk, and the decoder sounds it in pieces. The same input gives the same samples."""

    def __init__(self, front: Front, decoder: WrenDecoder) -> None:
        self._front, self._decoder = front, decoder

    def run(self, item: ModelInput) -> ModelOutput:
        """A whole chunk at once."""
        plan = self._front.plan(item)
        return ModelOutput(self._decoder.decode(plan, within=heard_frames(plan)), plan.durations)

    def render(self, request: SynthesisRequest) -> Iterator[RenderedChunk | None]:
        """A chunk as it is heard, piece by piece; None after the plan, and where a piece is silence that is cut off."""
        plan = self._front.plan(request.input)
        renderer = StreamRenderer(request, plan.durations)
        yield None
        heard = heard_frames(plan)
        utterance = self._decoder.start(plan, within=heard)
        pcm = utterance.advance(utterance.lookahead + _first_cut(renderer.cuts, heard) - heard.start)
        frames = _SECOND_PIECE
        while True:
            yield renderer.push(pcm)
            if utterance.done:
                return
            pcm = utterance.advance(frames)
            frames = min(2 * frames, _LARGEST_PIECE)


def _first_cut(cuts: Sequence[int], heard: Span) -> int:
    """The frame at the end of the first words that make a piece."""
    least = heard.start + MARGIN + _FIRST_PIECE
    return next((frame for cut in cuts if (frame := -(-cut // HOP)) >= least), heard.end)
