"""An evaluation: voices say texts, the panel listens, and every utterance gets its figures."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from polyvox.errors import InvalidRequestError, PolyvoxError
from polyvox.evaluate.dnsmos import DnsScores
from polyvox.evaluate.panel import Impression, Panel
from polyvox.evaluate.wer import WerResult
from polyvox.evaluate.wording import is_english
from polyvox.types import Pcm
from polyvox.voices.similarity import Embedding, similarity

MAX_UTTERANCES = 2_000
MAX_TEXT_CHARS = 2_000

Speak = Callable[[str, str], Awaitable[tuple[Pcm, int]]]
"""Has a voice (its name) say a text; samples and their rate."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is said by whom, and whom each voice should sound like; a voice without a reference, like itself."""

    voices: tuple[str, ...]
    texts: tuple[str, ...]
    language: str | None = None
    references: Mapping[str, Embedding] = field(default_factory=dict)
    timeout: float = 120.0

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


@dataclass(frozen=True, slots=True)
class Sample:
    """One utterance and what was heard in it; a figure is None where it was not asked for or makes no sense."""

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


async def run_trial(trial: Trial, speak: Speak, panel: Panel, on_sample: Callable[[Sample], None]) -> list[Sample]:
    """Have everything said and heard, one utterance after another, in the order of voices and then of texts."""
    samples: list[Sample] = []
    for voice in trial.voices:
        spoken: list[Sample] = []
        embeddings: list[Embedding | None] = []
        for text in trial.texts:
            blank = Sample(len(samples) + len(spoken) + 1, voice, text)
            sample, embedding = await _take(blank, trial, speak, panel)
            on_sample(sample)
            spoken.append(sample)
            embeddings.append(embedding)
        alike = likenesses(embeddings, trial.references.get(voice))
        samples += [replace(sample, similarity=value) for sample, value in zip(spoken, alike, strict=True)]
    return samples


async def _take(sample: Sample, trial: Trial, speak: Speak, panel: Panel) -> tuple[Sample, Embedding | None]:
    """One utterance. What goes wrong with it is noted, and the others go on."""
    try:
        async with asyncio.timeout(trial.timeout):
            pcm, rate = await speak(sample.voice, sample.text)
        expected = sample.text if is_english(sample.text, trial.language) else None
        heard = await asyncio.to_thread(panel.hear, pcm, rate, expected)
    except TimeoutError:
        return replace(sample, error=f"It was not spoken within {trial.timeout:g} seconds."), None
    except PolyvoxError as error:
        return replace(sample, error=error.message), None
    return _filled(sample, len(pcm) / rate, heard), heard.embedding


def _filled(sample: Sample, seconds: float, heard: Impression) -> Sample:
    return replace(
        sample,
        seconds=seconds,
        transcript=heard.transcript,
        words=heard.words,
        distillmos=heard.distillmos,
        dnsmos=heard.dnsmos,
    )


def likenesses(embeddings: Sequence[Embedding | None], reference: Embedding | None) -> list[float | None]:
    """How alike each utterance is to the reference, or to the others of its voice on average."""
    return [
        None if embedding is None else _likeness(embedding, _others(embeddings, index, reference))
        for index, embedding in enumerate(embeddings)
    ]


def _others(embeddings: Sequence[Embedding | None], index: int, reference: Embedding | None) -> list[Embedding]:
    if reference is not None:
        return [reference]
    return [other for place, other in enumerate(embeddings) if place != index and other is not None]


def _likeness(embedding: Embedding, others: Sequence[Embedding]) -> float | None:
    return float(np.mean([similarity(embedding, other) for other in others])) if others else None
