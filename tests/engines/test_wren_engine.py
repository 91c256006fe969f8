"""The model `wren` on a narrow decoder: chunks in pieces, words, and streams side by side."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from helpers.tiny_kokoro import tiny_voices
from helpers.tiny_wren import CONFIG, write_tiny_wren
from polyvox.engines.catalog import Catalog
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.render import render
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.wren.decoder import WrenDecoder
from polyvox.engines.kokoro.wren.model import WrenModel
from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.engines.kokoro.wren.synthesis import WrenSynthesis
from polyvox.errors import EngineError
from polyvox.installation import load_settings
from polyvox.runtime.precedence import Precedence, enter_precedence
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio

TEXT = "A quick brown fox ran over the lazy dog. It was late: nobody saw it."


class WaveFront:
    """Gives every id five frames, the first one ten, and a text and pitch of waves."""

    def __init__(self) -> None:
        self.planned = 0

    def plan(self, item: ModelInput) -> UtterancePlan:
        self.planned += 1
        durations = np.array([10, *[5] * len(item.ids), 5])
        frames = int(durations.sum())
        time = np.arange(2 * frames, dtype=np.float32)
        text = 0.05 * np.sin(np.outer(np.arange(1, CONFIG.text_dim + 1), time[:frames] * 0.1)).astype(np.float32)
        style = item.style.reshape(-1)[: CONFIG.style_dim]
        return UtterancePlan(text, 150 + 20 * np.sin(time / 9), np.cos(time / 7), style, durations)


@pytest.fixture(scope="module")
def front() -> WaveFront:
    return WaveFront()


@pytest.fixture(scope="module")
def model(front: WaveFront, tmp_path_factory: pytest.TempPathFactory) -> WrenModel:
    folder = tmp_path_factory.mktemp("wren")
    write_tiny_wren(folder)
    return WrenModel(front, WrenDecoder(folder, 1))


@pytest.fixture
async def engine(model: WrenModel, tmp_path: Path):
    engine = Catalog.installed().factories["wren"](load_settings(models_dir=tmp_path, first_chunk_phonemes=20))
    assert isinstance(engine, KokoroEngine)
    await engine.start_with(WrenSynthesis(model.render, 1, None), tiny_voices(tmp_path))
    yield engine
    await engine.close()


async def spoken(engine: KokoroEngine, text: str = TEXT, **options):
    return [chunk async for chunk in engine.speak(Utterance(text, "af_heart", **options))]


@pytest.mark.long
async def test_pieces_are_the_chunks_that_the_same_network_gives_whole(engine: KokoroEngine, model: WrenModel) -> None:
    pieces = await spoken(engine)
    requests = list(engine.requests(Utterance(TEXT, "af_heart")))
    whole = [render(row.chunk, model.run(row.input), row.input.speed, row.gain) for row in requests]
    joined = np.concatenate([piece.pcm for piece in pieces])
    wanted = np.concatenate([chunk.pcm for chunk in whole])
    assert len(pieces) > len(requests) > 1
    np.testing.assert_allclose(joined, wanted, atol=1e-4)


@pytest.mark.long
async def test_text_goes_with_the_words_that_end_in_a_piece_and_every_word_is_timed_once(engine: KokoroEngine) -> None:
    pieces = await spoken(engine)
    requests = list(engine.requests(Utterance(TEXT, "af_heart")))
    assert "".join(piece.text for piece in pieces) == "".join(
        TEXT[row.chunk.span.start : row.chunk.span.end] for row in requests
    )
    assert all((piece.span is None) == (piece.text == "") for piece in pieces)
    for piece in pieces:
        assert all(piece.span.start <= word.span.start < word.span.end <= piece.span.end for word in piece.words)
    assert pieces[-1].tokens.end == sum(len(row.chunk.phonemes) for row in requests)
    words = [word for piece in pieces for word in piece.words]
    assert [word.word for word in words] == [part.strip(".:") for part in TEXT.split()]
    assert all(word.start < word.end <= pieces[-1].end / 24_000 for word in words)
    assert [piece.start for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]]


async def test_a_job_has_the_samples_of_a_listener(engine: KokoroEngine) -> None:
    live = await spoken(engine, whole=True)
    enter_precedence(Precedence(background=True))
    job = await spoken(engine, whole=True)
    assert [chunk.pcm.tobytes() for chunk in job] == [chunk.pcm.tobytes() for chunk in live]


@pytest.mark.long
async def test_the_same_text_gives_the_same_pieces_whoever_speaks_beside_it(engine: KokoroEngine) -> None:
    alone = await spoken(engine)
    beside = await asyncio.gather(*(spoken(engine, speed=speed) for speed in (1.0, 1.3, 0.8)))
    assert [len(piece.pcm) for piece in beside[0]] == [len(piece.pcm) for piece in alone]
    assert all(np.array_equal(ours.pcm, piece.pcm) for ours, piece in zip(beside[0], alone, strict=True))


async def test_a_pause_without_words_is_silence(engine: KokoroEngine) -> None:
    pieces = await spoken(engine, "One. [pause:0.5s] Two.")
    assert sum(len(piece.pcm) for piece in pieces) > 0.5 * 24_000


async def test_a_listener_who_leaves_stops_the_decoding(engine: KokoroEngine, front: WaveFront) -> None:
    before = front.planned
    stream = engine.speak(Utterance(TEXT * 20, "af_heart"))
    await anext(stream)
    await stream.aclose()
    assert await spoken(engine, "Good.")
    # The chunk that was heard, at most the next two, and the other text.
    assert front.planned - before <= 4


async def test_a_failing_front_is_an_error_in_its_turn(tmp_path: Path) -> None:
    def broken(request):
        raise EngineError("The graph failed.")
        yield

    engine = KokoroEngine(load_settings(models_dir=tmp_path), "wren")
    synthesis = WrenSynthesis(broken, 1, None)
    with pytest.raises(EngineError, match="The graph failed"):
        await engine.start_with(synthesis, tiny_voices(tmp_path))
    await engine.close()


def test_wren_needs_the_files_of_kokoro(tmp_path: Path) -> None:
    catalog, settings = Catalog.installed(), load_settings(models_dir=tmp_path)
    assert "polyvox pull kokoro" in catalog.absence("wren", settings)
    (tmp_path / "kokoro").mkdir()
    assert catalog.absence("wren", settings) == ""
    assert catalog.bundle_of("wren") == "kokoro"
    assert catalog.bundle_of("campplus") == "campplus"


def test_the_model_kokoro_keeps_its_own_decoder_unless_the_settings_say_otherwise(tmp_path: Path) -> None:
    factories = Catalog.installed().factories
    names = {name: factories[name](load_settings(models_dir=tmp_path)) for name in ("kokoro", "wren")}
    decoders = {name: engine._settings.decoder for name, engine in names.items()}
    assert decoders == {"kokoro": "auto", "wren": "wren"}
    assert [engine.name for engine in names.values()] == ["kokoro", "wren"]
    assert all(engine.style_model == "kokoro" for engine in names.values())
