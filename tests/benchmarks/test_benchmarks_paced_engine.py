"""The engine of the fault trials."""

import pytest

from benchmarks.paced_engine import CHUNK_SECONDS, CHUNKS, PacedEngine
from helpers.fakes import tone_settings
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio


@pytest.mark.long
async def test_every_text_has_the_same_length(tmp_path) -> None:
    engine = PacedEngine(tone_settings(data_dir=tmp_path))
    await engine.start()
    try:
        chunks = [chunk async for chunk in engine.speak(Utterance("One.", "paced"))]
    finally:
        await engine.close()
    assert [chunk.index for chunk in chunks] == list(range(CHUNKS))
    assert sum(chunk.duration for chunk in chunks) == pytest.approx(CHUNKS * CHUNK_SECONDS)


async def test_a_file_makes_one_replica_hang(tmp_path) -> None:
    (tmp_path / "hang").touch()
    engine = PacedEngine(tone_settings(data_dir=tmp_path))
    assert engine._hang_requested()
    assert not engine._hang_requested()
    await engine.close()
