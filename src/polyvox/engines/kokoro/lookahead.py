"""Ordered synthesis of one utterance's chunks, whole or in pieces, with a few chunks in flight ahead of the player."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from polyvox.engines.kit.playhead import Playhead
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.request import SynthesisRequest
from polyvox.engines.kokoro.synthesis import KokoroSynthesis, SynthesisResult
from polyvox.types import Span

_PHONEME_SECONDS = 0.065
"""Mean duration of a phoneme at speed 1."""


@dataclass(frozen=True, slots=True)
class SynthesizedPiece:
    """A request, its chunk or a piece of it, and the seconds since the text was asked for or the piece before came."""

    request: SynthesisRequest
    result: SynthesisResult
    wall_seconds: float
    first: bool = True


class ReadingPosition:
    """The part of a chunk's text that its pieces have said. A piece says its words, and the last one says the rest."""

    def __init__(self) -> None:
        self._position = 0

    def said_by(self, piece: SynthesizedPiece) -> Span | None:
        """The caller's text that goes with the next piece; None where no word ends in it."""
        whole, rendered = piece.request.chunk.span, piece.result.rendered
        if whole is None:
            return None
        start = whole.start if piece.first else self._position
        ends = [word.span.end for word in rendered.words]
        self._position = whole.end if rendered.last else min(max([start, *ends]), whole.end)
        return Span(start, self._position) if self._position > start else None


_Pieces = asyncio.Queue[SynthesizedPiece | None]


@dataclass(frozen=True, slots=True)
class _InFlight:
    """A chunk's task, and its pieces up to a None."""

    task: asyncio.Task[None]
    pieces: _Pieces


async def synthesize_in_order(
    next_request: Callable[[], Awaitable[SynthesisRequest | None]], synthesis: KokoroSynthesis
) -> AsyncGenerator[SynthesizedPiece, None]:
    """Synthesise all requests in order, with at most `synthesis.lookahead` chunks in flight or not yet taken.

    An error that occurs ahead is raised in its turn, after the chunks before it.
    """
    playhead = Playhead(asyncio.get_running_loop().time)
    own = synthesis.first_chunks.begin()
    slots = asyncio.Semaphore(synthesis.lookahead)
    in_order: asyncio.Queue[_InFlight | None] = asyncio.Queue()
    in_flight: set[asyncio.Task[None]] = set()

    async def synthesize(request: SynthesisRequest, asked: float, due: float, pieces: _Pieces) -> None:
        first = True
        try:
            async with aclosing(synthesis.pieces(request, due)) as results:
                async for result in results:
                    now = time.perf_counter()
                    pieces.put_nowait(SynthesizedPiece(request, result, now - asked, first))
                    asked, first = now, False
                    own.heard()
        finally:
            pieces.put_nowait(None)

    async def feed() -> None:
        try:
            while True:
                await slots.acquire()
                asked = time.perf_counter()
                request = await next_request()
                if request is None:
                    return
                due, pieces = playhead.expect(_expected_seconds(request)), _Pieces()
                task = asyncio.create_task(synthesize(request, asked, due, pieces))
                in_flight.add(task)
                in_order.put_nowait(_InFlight(task, pieces))
                await synthesis.first_chunks.passed()
        finally:
            in_order.put_nowait(None)

    feeder = asyncio.create_task(feed())
    try:
        while (chunk := await in_order.get()) is not None:
            while (piece := await chunk.pieces.get()) is not None:
                rendered = piece.result.rendered
                playhead.push(len(rendered.pcm) / SAMPLE_RATE, last=rendered.last)
                yield piece
            await chunk.task
            in_flight.discard(chunk.task)
            slots.release()
        await feeder
    finally:
        own.heard()
        left = (feeder, *in_flight)
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _expected_seconds(request: SynthesisRequest) -> float:
    speed = request.input.speed
    return len(request.input.ids) * _PHONEME_SECONDS / speed + request.chunk.pause(speed)
