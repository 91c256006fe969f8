"""When the next piece of a chunk is due, by which steps of all streams are ordered."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import numpy as np
import pytest

from polyvox.engines.kokoro.chunking import Break, PhonemeChunk
from polyvox.engines.kokoro.render import SAMPLE_RATE, RenderedChunk
from polyvox.engines.kokoro.request import ModelInput, SynthesisRequest
from polyvox.engines.kokoro.wren.synthesis import WrenSynthesis

pytestmark = pytest.mark.anyio

REQUEST = SynthesisRequest(PhonemeChunk((), Break.SENTENCE), ModelInput((1,), np.zeros(1, np.float32), 1.0))
PIECE = RenderedChunk(np.zeros(SAMPLE_RATE // 2, np.float32), 0, (), last=False)


def two_pieces(request: SynthesisRequest) -> Iterator[RenderedChunk | None]:
    yield None
    yield PIECE
    yield PIECE


@pytest.mark.parametrize(("wait", "late"), [(-5.0, True), (5.0, False)])
async def test_a_late_piece_plays_when_it_comes_and_others_behind_the_one_before(
    wait: float, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    synthesis: Any = WrenSynthesis(two_pieces, 1, None)
    stage, dues = synthesis._stage, []

    async def recorded(steps: Iterator[RenderedChunk | None], *, due: float) -> Any:
        dues.append(due)
        return await stage(steps, due=due)

    monkeypatch.setattr(synthesis, "_stage", recorded)
    now = asyncio.get_running_loop().time()
    async with aclosing(synthesis.pieces(REQUEST, now + wait)) as pieces:
        assert [piece.rendered async for piece in pieces] == [PIECE, PIECE]
    monkeypatch.undo()
    await synthesis.close()
    planned, first, second, _ = dues
    assert planned == first == now + wait
    assert second == pytest.approx(now + 0.5, abs=0.4) if late else second == now + wait + 0.5
