"""How exact word timings are that are found in finished speech, and Kokoro's own times of its phonemes.

    python -m benchmarks.word_timings --voices af_heart am_michael bf_emma bm_george

Kokoro's words are spoken as if it did not know when: alignment and estimate are compared with its own durations and
with the forced aligner of pocketsphinx (installed with the extra dev), which also times phonemes. Needs the models
kokoro and moonshine-base.
"""

import argparse
import asyncio
import importlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polyvox.audio.analysis import ANALYSIS_RATE, mono_16k
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.evaluate.wer import words_of
from polyvox.installation import load_settings
from polyvox.service.words.word_timer import Stretch, TimedWords, WordTimer
from polyvox.text.timed_words import timed_words
from polyvox.types import NormalizationOptions, Pcm, Utterance, WordTiming

RATE = 24_000
# Harvard sentences, and longer ones with pauses; every word is in the aligner's dictionary.
SENTENCES = (
    "The birch canoe slid on the smooth planks.",
    "Glue the sheet to the dark blue background.",
    "It's easy to tell the depth of a well.",
    "These days a chicken leg is a rare dish.",
    "Rice is often served in round bowls.",
    "The juice of lemons makes fine punch.",
    "The box was thrown beside the parked truck.",
    "The hogs were fed chopped corn and garbage.",
    "Four hours of steady work faced us.",
    "A large size in stockings is hard to sell.",
    "The boy was there when the sun rose.",
    "A rod is used to catch pink salmon.",
    "The source of the huge river is the clear spring.",
    "Kick the ball straight and follow through.",
    "Help the woman get back to her feet.",
    "A pot of tea helps to pass the evening.",
    "Smoky fires lack flame and heat.",
    "The soft cushion broke the man's fall.",
    "The salt breeze came across from the sea.",
    "The girl at the booth sold fifty bonds.",
    "The small pup gnawed a hole in the sock.",
    "The old keeper climbed the stairs every evening, carrying a lamp and a book. He had read each page so often that "
    "the words had worn smooth, like stones in a stream.",
    "When the fog came in, he would ring the bell, wait for an answer, and write the hour in his log; nobody had ever "
    "asked to see it.",
    "If you want to know, ask me now. I will not be here in the morning, because my train leaves before the sun comes "
    "up.",
)


@dataclass(slots=True)
class Errors:
    """Differences of word starts in seconds, and what finding them cost."""

    by_durations: list[float] = field(default_factory=list)
    by_aligner: list[float] = field(default_factory=list)
    cpu_seconds: float = 0.0
    audio_seconds: float = 0.0

    def row(self, name: str) -> str:
        cells = [f"{name:10}"]
        for errors in (self.by_durations, self.by_aligner):
            cells.append(f"{1000 * np.median(errors):4.0f} / {1000 * np.percentile(errors, 95):4.0f} ms")
        return " | ".join([*cells, f"{self.cpu_seconds / self.audio_seconds:.4f} CPU-s/s"])


@dataclass(slots=True)
class PhonemeErrors:
    """Differences of the starts of phonemes inside of words, in seconds, and the words that were compared."""

    differences: list[float] = field(default_factory=list)
    compared: int = 0
    words: int = 0

    def add(self, words: Sequence[WordTiming], aligned: Sequence[Sequence[float]]) -> None:
        """Compare the words that both read with as many phonemes."""
        for word, starts in zip(words, aligned, strict=True):
            self.words += 1
            if len(word.phonemes) == len(starts):
                self.compared += 1
                self.differences += [
                    abs(phoneme.start - start) for phoneme, start in zip(word.phonemes[1:], starts[1:], strict=True)
                ]

    def row(self) -> str:
        errors = [1000 * difference for difference in self.differences]
        found = f"{np.median(errors):.0f} / {np.percentile(errors, 95):.0f} ms by pocketsphinx"
        return f"phonemes: {found}; {len(errors)} in {self.compared} of {self.words} words"


def aligned_starts(pcm: Pcm, text: str) -> list[list[float]]:
    """Where pocketsphinx finds the phonemes of each word, in seconds."""
    pocketsphinx: Any = importlib.import_module("pocketsphinx")
    decoder = pocketsphinx.Decoder(lm=None, loglevel="FATAL", samprate=ANALYSIS_RATE)
    decoder.set_align_text(" ".join(words_of(text)))
    samples = (np.clip(mono_16k(pcm, RATE), -1.0, 1.0) * 32767).astype("<i2").tobytes()
    _decode(decoder, samples)
    words = [segment.start_frame / 100 for segment in decoder.seg() if not segment.word.startswith(("<", "["))]
    try:
        decoder.set_alignment()
        _decode(decoder, samples)
    except RuntimeError:  # it finds the words of some sentences and then not their phonemes
        return [[start] for start in words]
    found = []
    for word in decoder.get_alignment():  # an entry is gone once the next one is asked for
        phones = [phone.start / 100 for phone in word]
        found += [] if word.name.startswith(("<", "[")) else [phones]
    return [[start, *phones[1:]] for start, phones in zip(words, found, strict=True)]


def _decode(decoder: Any, samples: bytes) -> None:  # noqa: ANN401 - of a package without types
    decoder.start_utt()
    decoder.process_raw(samples, full_utt=True)
    decoder.end_utt()


def measure(
    errors: Errors, find: Callable[[Stretch], TimedWords], pcm: Pcm, text: str, truth: Sequence[Sequence[float]]
) -> None:
    """Add the errors of one text; `truth` is its word starts by the durations and by the aligner."""
    stretch = Stretch(pcm, RATE, 0, timed_words(text, NormalizationOptions(), "en"), whole=True)
    began = time.process_time()
    found = find(stretch)
    errors.cpu_seconds += time.process_time() - began
    errors.audio_seconds += len(pcm) / RATE
    starts = [span.start / RATE for span in found.spans]
    for known, differences in zip(truth, (errors.by_durations, errors.by_aligner), strict=True):
        differences += [abs(one - other) for one, other in zip(starts, known, strict=True)]


async def compare(voices: Iterable[str], sentences: Sequence[str]) -> tuple[dict[str, Errors], PhonemeErrors]:
    settings = load_settings()
    engine, timer = KokoroEngine(settings), WordTimer(settings)
    await engine.start()
    ways = {"alignment": timer.time, "estimate": timer.estimate}
    found, phonemes = {name: Errors() for name in ways}, PhonemeErrors()
    timer.time(
        Stretch(np.zeros(RATE, np.float32), RATE, 0, timed_words("Hi", NormalizationOptions(), "en"), whole=True)
    )
    for voice in voices:
        for text in sentences:
            chunks = [chunk async for chunk in engine.speak(Utterance(text, voice))]
            pcm = np.concatenate([chunk.pcm for chunk in chunks])
            words, aligned = [word for chunk in chunks for word in chunk.words], aligned_starts(pcm, text)
            phonemes.add(words, aligned)
            truth = [word.start for word in words], [starts[0] for starts in aligned]
            for name, find in ways.items():
                measure(found[name], find, pcm, text, truth)
    await engine.close()
    return found, phonemes


def main() -> None:
    parser = argparse.ArgumentParser(description="Errors of word starts, median / 95 %, and their cost.")
    parser.add_argument("--voices", nargs="+", default=["af_heart", "am_michael", "bf_emma", "bm_george"])
    parser.add_argument("--sentences", type=int, default=len(SENTENCES))
    options = parser.parse_args()
    found, phonemes = asyncio.run(compare(options.voices, SENTENCES[: options.sentences]))
    print("           | by durations   | by pocketsphinx | cost")
    for name, errors in found.items():
        print(errors.row(name))
    print(phonemes.row())


if __name__ == "__main__":
    main()
