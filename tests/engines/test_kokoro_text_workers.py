"""Kokoro with processes that read its texts: what the engine reads by itself, in every language."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from helpers.tiny_kokoro import tiny_voices
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.request import ModelInput, ModelOutput
from polyvox.engines.kokoro.synthesis import SerialSynthesis
from polyvox.errors import MarkupError, NotServedError, SilentTextError
from polyvox.installation import load_settings
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio

TEXTS = {
    "en-us": "A quick brown fox ran. It cost $5.20: nobody of Quxbarz saw it! [pause:300ms] Then it went.",
    "en-gb": "He paid on 3/4/2025.",
    "es": "El tren sale a las 14:30. ¿Quién viene?",
    "fr": "Il est né en 1984, à 20 km d'ici.",
    "hi": "नमस्ते, 5 लोग।",
    "it": "Ciao, sono le 9:15.",
    "pt-br": "Olá, são 3 kg.",
    "zh": "今天3点还要去银行。",
    "ja": "今日は3時に銀行へ行った。",
}


def waves(item: ModelInput) -> ModelOutput:
    durations = np.array([4, *[3] * len(item.ids), 4])
    samples = np.arange(600 * int(durations.sum()), dtype=np.float32)
    return ModelOutput((0.2 * np.sin(samples * 0.03 * (1 + len(item.ids) % 7))).astype(np.float32), durations)


async def started(folder: Path, workers: int) -> KokoroEngine:
    engine = KokoroEngine(load_settings(models_dir=folder, kokoro_text_workers=workers, first_chunk_phonemes=20))
    await engine.start_with(SerialSynthesis(waves, 1, None), tiny_voices(folder))
    return engine


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def engines(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str):
    folder = tmp_path_factory.mktemp("kokoro")
    both = [await started(folder, count) for count in (0, 2)]
    yield both
    for engine in both:
        await engine.close()


@pytest.mark.parametrize("language", TEXTS)
async def test_the_same_chunks_and_words_as_without_them(engines: list[KokoroEngine], language: str) -> None:
    found = []
    for engine in engines:
        try:
            spoken = Utterance(TEXTS[language], "af_heart", language=language)
            found.append([chunk async for chunk in engine.speak(spoken)])
        except NotServedError as error:  # the language's package is not installed here
            found.append(error.message)
    alone, beside = found
    if isinstance(alone, str):
        assert alone == beside
        return
    assert len(alone) == len(beside) > 0
    for one, other in zip(alone, beside, strict=True):
        np.testing.assert_array_equal(one.pcm, other.pcm)
        assert (one.text, one.span, one.words, one.tokens) == (other.text, other.span, other.words, other.tokens)


async def test_a_text_without_words_is_refused_alike(engines: list[KokoroEngine]) -> None:
    for engine in engines:
        with pytest.raises(SilentTextError):
            _ = [chunk async for chunk in engine.speak(Utterance("...", "af_heart"))]


async def test_a_wrong_mark_is_refused_alike(engines: list[KokoroEngine]) -> None:
    found = []
    for engine in engines:
        with pytest.raises(MarkupError) as raised:
            _ = [chunk async for chunk in engine.speak(Utterance("Wait. [pause:0.3] Go.", "af_heart"))]
        found.append((raised.value.message, raised.value.at, raised.value.mark))
    assert found[0] == found[1]


async def test_a_listener_who_leaves_has_his_text_forgotten(engines: list[KokoroEngine]) -> None:
    engine = engines[1]
    chunks = engine.speak(Utterance(TEXTS["en-us"] * 20, "af_heart"))
    await anext(chunks)
    await chunks.aclose()
    assert [chunk async for chunk in engine.speak(Utterance("Next.", "af_heart"))]
