"""Kokoro's front and Wren's decoder as one network."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from polyvox.engines.kokoro.chunking import Opening
from polyvox.engines.kokoro.render import RenderedChunk
from polyvox.engines.kokoro.request import ModelInput, ModelOutput, SynthesisRequest
from polyvox.engines.kokoro.wren.decoder import DecodingUtterance, WrenDecoder
from polyvox.engines.kokoro.wren.heard import MARGIN, heard_frames
from polyvox.engines.kokoro.wren.joining import fade_over, join_plans, seam_of
from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.engines.kokoro.wren.rendering import StreamRenderer
from polyvox.engines.kokoro.wren.source import HOP
from polyvox.types import Pcm, Span

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
        """A chunk as it is heard, piece by piece; None after a plan, and where a piece is silence that is cut off."""
        if request.phoneme_chunk.opening is not None:
            yield from self._render_opened(request, request.phoneme_chunk.opening)
            return
        plan = self._front.plan(request.input)
        renderer = StreamRenderer(request, plan.durations)
        yield None
        heard = heard_frames(plan)
        utterance = self._decoder.start(plan, within=heard)
        yield from map(renderer.push, _pieces(utterance, _first_cut(renderer.cuts, heard) - heard.start))

    def _render_opened(self, request: SynthesisRequest, opening: Opening) -> Iterator[RenderedChunk | None]:
        """A long chunk: its opening is heard before the whole of it is planned."""
        plan = self._front.plan(request.input.first(opening.planned))
        renderer = StreamRenderer(request, plan.durations[:-1])
        yield None
        heard, seam = heard_frames(plan), seam_of(plan, opening.heard)
        utterance = self._decoder.start(plan, within=heard)
        first = min(_first_cut(renderer.cuts, heard), seam.end) - heard.start
        made = np.zeros(0, np.float32)
        for pcm in _pieces(utterance, first, seam.end - heard.start):
            known, made = min(len(made), seam.start * HOP), np.concatenate((made, pcm))
            yield renderer.push(made[known : seam.start * HOP])
        plan = join_plans(plan, self._front.plan(request.input), opening.heard)
        renderer.extend(plan.durations)
        yield None
        start = max(0, seam.start - utterance.lookahead)
        rest = self._decoder.start(plan, within=Span(start, max(heard_frames(plan).end, seam.end)))
        pieces = _pieces(rest, seam.end - start + _SECOND_PIECE)
        yield renderer.push(fade_over(made, next(pieces), seam))
        yield from map(renderer.push, pieces)


def _pieces(utterance: DecodingUtterance, first: int, last: int | None = None) -> Iterator[Pcm]:
    """The samples of an utterance, or of its frames up to the last: so many frames first, then pieces that grow."""
    yield utterance.advance(utterance.lookahead + max(1, first))
    left, frames = None if last is None else last - first, _SECOND_PIECE
    while not utterance.done and (left is None or left > 0):
        yield utterance.advance(frames if left is None else min(frames, left))
        left, frames = None if left is None else left - frames, min(2 * frames, _LARGEST_PIECE)


def _first_cut(cuts: Sequence[int], heard: Span) -> int:
    """The frame at the end of the first words that make a piece."""
    least = heard.start + MARGIN + _FIRST_PIECE
    return next((frame for cut in cuts if (frame := -(-cut // HOP)) >= least), heard.end)
