"""An evaluation: voices say texts, and every utterance is scored."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from polyvox.errors import InvalidRequestError, PolyvoxError
from polyvox.evaluate.dnsmos import DnsScores
from polyvox.evaluate.scorers import Scorers, Scores
from polyvox.evaluate.wer import WerResult
from polyvox.evaluate.wording import is_english, plain_form, reading_errors
from polyvox.types import Pcm
from polyvox.voices.recognition.similarity import Embedding, similarity

MAX_UTTERANCES = 2_000
MAX_TEXT_CHARS = 2_000

Speak = Callable[[str, str], Awaitable[tuple[Pcm, int]]]
"""Speak a text with the voice of a name: `await speak(voice, text)` gives samples and their rate."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The voices and texts to evaluate. `references` are embeddings that voices should sound like, by voice.

    `spoken` has the spoken forms of texts: how people say them, where their words alone do not tell. Without one, only
    a text of nothing but words has its word errors counted.
    """

    voices: tuple[str, ...]
    texts: tuple[str, ...]
    language: str | None = None
    references: Mapping[str, Embedding] = field(default_factory=dict)
    timeout: float = 120.0
    spoken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, values in (("voice", self.voices), ("text", self.texts)):
            if not values:
                raise InvalidRequestError(f"There is no {name} to evaluate; give at least one.", field=name)
        if self.utterances > MAX_UTTERANCES:
            raise InvalidRequestError(
                f"{len(self.voices)} voices and {len(self.texts)} texts are {self.utterances} utterances, more than "
                f"{MAX_UTTERANCES}; give fewer.",
                field="texts",
            )
        longest = max(map(len, self.texts))
        if longest > MAX_TEXT_CHARS:
            raise InvalidRequestError(
                f"A text of {longest} characters is too long to evaluate; cut it to {MAX_TEXT_CHARS}.", field="texts"
            )
        if self.timeout <= 0:
            raise InvalidRequestError("timeout must be above 0.", field="timeout")

    @property
    def utterances(self) -> int:
        return len(self.voices) * len(self.texts)

    def spoken_forms(self, text: str) -> tuple[str, ...] | None:
        """Words that a person would say for a text; empty where nobody said so, None where the text is not English."""
        if not is_english(text, self.language):
            return None
        if text in self.spoken:
            return self.spoken[text]
        plain = plain_form(text)
        return () if plain is None else (plain,)


@dataclass(frozen=True, slots=True)
class UtteranceResult:
    """One utterance and its scores; a score is None where it was not asked for or does not apply."""

    number: int
    voice: str
    text: str
    seconds: float = 0.0
    transcript: str | None = None
    words: WerResult | None = None
    similarity: float | None = None
    distillmos: float | None = None
    dnsmos: DnsScores | None = None
    error: str = ""
    reading: WerResult | None = None


async def run_evaluation(
    evaluation: Evaluation, speak: Speak, scorers: Scorers, on_result: Callable[[UtteranceResult], None]
) -> list[UtteranceResult]:
    """Speak and score everything, one utterance after another, in the order of voices and then of texts."""
    results: list[UtteranceResult] = []
    for voice in evaluation.voices:
        spoken: list[UtteranceResult] = []
        embeddings: list[Embedding | None] = []
        for text in evaluation.texts:
            forms = evaluation.spoken.get(text)
            reading = reading_errors(text, forms) if forms and is_english(text, evaluation.language) else None
            blank = UtteranceResult(len(results) + len(spoken) + 1, voice, text, reading=reading)
            result, embedding = await _evaluated(blank, evaluation, speak, scorers)
            on_result(result)
            spoken.append(result)
            embeddings.append(embedding)
        alike = similarities(embeddings, evaluation.references.get(voice))
        results += [replace(result, similarity=value) for result, value in zip(spoken, alike, strict=True)]
    return results


async def _evaluated(
    result: UtteranceResult, evaluation: Evaluation, speak: Speak, scorers: Scorers
) -> tuple[UtteranceResult, Embedding | None]:
    """Speak and score one utterance; an error is noted in the result, so that the others go on."""
    try:
        async with asyncio.timeout(evaluation.timeout):
            pcm, rate = await speak(result.voice, result.text)
        scores = await asyncio.to_thread(scorers.score, pcm, rate, evaluation.spoken_forms(result.text))
    except TimeoutError:
        return replace(result, error=f"It was not spoken within {evaluation.timeout:g} seconds."), None
    except PolyvoxError as error:
        return replace(result, error=error.message), None
    return _filled(result, len(pcm) / rate, scores), scores.embedding


def _filled(result: UtteranceResult, seconds: float, scores: Scores) -> UtteranceResult:
    return replace(
        result,
        seconds=seconds,
        transcript=scores.transcript,
        words=scores.words,
        distillmos=scores.distillmos,
        dnsmos=scores.dnsmos,
    )


def similarities(embeddings: Sequence[Embedding | None], reference: Embedding | None) -> list[float | None]:
    """Similarity of each utterance to the reference, or its mean over the other utterances of the voice."""
    return [
        None if embedding is None else _mean_similarity(embedding, _others(embeddings, index, reference))
        for index, embedding in enumerate(embeddings)
    ]


def _others(embeddings: Sequence[Embedding | None], index: int, reference: Embedding | None) -> list[Embedding]:
    if reference is not None:
        return [reference]
    return [other for position, other in enumerate(embeddings) if position != index and other is not None]


def _mean_similarity(embedding: Embedding, others: Sequence[Embedding]) -> float | None:
    return float(np.mean([similarity(embedding, other) for other in others])) if others else None
