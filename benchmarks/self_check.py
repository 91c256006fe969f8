"""Word errors of a book before and after its self-check: hard words, and planted faults that it must find.

    python -m benchmarks.self_check                          # 24 sentences
    python -m benchmarks.self_check --sentences 300          # the whole book, of benchmarks/self_check.toml
    python -m benchmarks.self_check --sentences 300 --faults 4 --model wren --voice af_heart

Each sentence is spoken as in a verified job: heard, and spoken in another way where words are wrong. With `--faults N`
the first take of every Nth sentence is broken on purpose: a word is left out, the last three are said twice, the end is
lost, or a word is another one, in turn; all others are as the model speaks them. Words are counted by sound, as the
self-check does, and by letters, both by the recogniser that chose the take. `--second-opinion` has those that were
spoken again heard by the other recogniser, too, which had no part in the choice. Needs the models wren, kokoro and
moonshine-base, and whisper-base for the second opinion.
"""

import argparse
import asyncio
import json
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from polyvox.audio.analysis import mono_16k
from polyvox.books.narration.options import NarrationOptions
from polyvox.books.narration.passage_check import PassageCheck
from polyvox.books.narration.plan import Passage
from polyvox.evaluate.wer import WerResult
from polyvox.evaluate.wording import compare_words, spoken_form
from polyvox.installation import load_settings
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.jobs.checked_narrator import CheckedNarrator
from polyvox.service.jobs.narrator import Narrator
from polyvox.service.jobs.proofreader import Proof, Proofreader
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.listening.recognisers import MODELS
from polyvox.service.local_service import running_service
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.logs import configure_logging
from polyvox.service.voices.voices import VoiceService
from polyvox.types import AudioChunk
from polyvox.voices.recognition.recogniser import RecognitionTask
from polyvox.voices.records import SHARED_OWNER

_BOOK = Path(__file__).with_suffix(".toml")
_FAULTS = ("left out", "said twice", "end lost", "another word")
_OTHER_WORD = "gumbling"
_SHORTEST_BROKEN = 6
_REPORTED = 25
"""Sentences after which the figures so far are shown."""
_NOTHING = WerResult(0, 0, 0, 0)


@dataclass(frozen=True)
class BookSentence:
    """A sentence of the book, and which list it is from; `fault` is what its first take is broken by, if it is."""

    kind: str
    text: str
    fault: str = ""


def book(count: int, faults: int) -> list[BookSentence]:
    """The first sentences of the book, of all kinds in turn by their share of it."""
    lists = tomllib.loads(_BOOK.read_text(encoding="utf-8"))
    kinds = {
        "plain": lists["plain"],
        "name": list(_framed(lists["name_frames"], lists["names"])),
        "shortened": list(_framed(lists["shortened_frames"], lists["shortened"])),
        "twister": lists["twisters"],
    }
    placed = [
        ((place + 0.5) / len(texts), kind, text) for kind, texts in kinds.items() for place, text in enumerate(texts)
    ]
    chosen = [BookSentence(kind, text) for _, kind, text in sorted(placed)][:count]
    breakable = [at for at, one in enumerate(chosen) if len(one.text.split()) >= _SHORTEST_BROKEN]
    for turn, at in enumerate(breakable[::faults] if faults else ()):
        chosen[at] = replace(chosen[at], fault=_FAULTS[turn % len(_FAULTS)])
    return chosen


def _framed(frames: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    for number, word in enumerate(words):
        text = frames[number % len(frames)].format(word)
        yield text[0].upper() + text[1:]


def broken(text: str, fault: str) -> str:
    """The words of a take with a fault."""
    words = text.split()
    longest = max(range(1, len(words) - 1), key=lambda at: len(words[at]))
    match fault:
        case "left out":
            words[longest : longest + 1] = []
        case "said twice":
            words += words[-3:]
        case "end lost":
            words[-2:] = []
        case "another word":
            words[longest] = _OTHER_WORD
    return " ".join(words)


class FaultyNarrator(Narrator):
    """Breaks the first takes of sentences that have a fault; retakes are those of a plain narrator."""

    faults: dict[int, str] = {}  # noqa: RUF012 - set once, before anything is spoken

    async def speak(self, passage: Passage) -> AsyncIterator[AudioChunk]:
        fault = self.faults.get(passage.index)
        spoken = passage if fault is None else replace(passage, text=broken(passage.text, fault))
        async for chunk in super().speak(spoken):
            yield chunk


@dataclass
class Heard:
    """A take, and what the proofreader found in it."""

    take: Sequence[AudioChunk]
    proof: Proof
    seconds: float


class RecordingProofreader(Proofreader):
    """A proofreader whose proofs can be looked at."""

    def __init__(self, service: SpeechService) -> None:
        super().__init__(service.listening.recognisers, espeak=service.settings.espeak)
        self.heard: list[Heard] = []

    async def read(self, text: str, take: Sequence[AudioChunk], language: str) -> Proof:
        began = time.monotonic()
        proof = await super().read(text, take, language)
        self.heard.append(Heard(take, proof, time.monotonic() - began))
        return proof


@dataclass
class Tally:
    """Errors before and after, of some sentences."""

    sentences: int = 0
    words: int = 0
    wrong_before: int = 0
    wrong_after: int = 0
    respoken: int = 0
    remaining: int = 0
    letters_before: WerResult = field(default=_NOTHING)
    letters_after: WerResult = field(default=_NOTHING)

    def add(self, check: PassageCheck, text: str, takes: Sequence[Heard]) -> None:
        form = (spoken_form(text),)
        self.sentences += 1
        self.words += check.words
        self.wrong_before += check.first_wrong
        self.wrong_after += check.wrong
        self.respoken += check.takes > 1
        self.remaining += not check.passed
        self.letters_before += compare_words(form, takes[0].proof.heard)
        self.letters_after += compare_words(form, takes[check.kept - 1].proof.heard)

    def row(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences,
            "words": self.words,
            "wrong_by_sound": [self.wrong_before, self.wrong_after],
            "wrong_by_letters": [self.letters_before.errors, self.letters_after.errors],
            "respoken": self.respoken,
            "remaining": self.remaining,
        }


async def trial(options: argparse.Namespace) -> dict[str, Any]:
    """Speak and check the sentences; a line for each that was spoken again."""
    sentences = book(options.sentences, options.faults)
    DeviceExecutor.LOWEST = 0  # words are measured here, not time: on a busy machine the lowest priority waits for long
    settings = load_settings(log_level="error", deadline_seconds=600.0)
    configure_logging(settings)
    if options.model:
        settings = settings.model_copy(update={"default_model": options.model})
    async with running_service(settings, hd=True) as service:
        voices, proofreader = VoiceService.for_service(service, OperatorAccess()), RecordingProofreader(service)
        chosen = NarrationOptions(voice=options.voice, verify=True)
        narrator = FaultyNarrator(service, voices.resolver, chosen, owner=SHARED_OWNER, client="", door="bench")
        narrator.faults = {index: one.fault for index, one in enumerate(sentences) if one.fault}
        try:
            return await _tallied(sentences, CheckedNarrator(narrator, proofreader), proofreader, service, options)
        finally:
            await proofreader.close()
            await voices.close()


async def _tallied(
    sentences: Sequence[BookSentence],
    checked: CheckedNarrator,
    proofreader: RecordingProofreader,
    service: SpeechService,
    options: argparse.Namespace,
) -> dict[str, Any]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    opinions = [0, 0]
    began, hearing, audio = time.monotonic(), 0.0, 0.0
    for index, one in enumerate(sentences):
        proofreader.heard.clear()
        *_, check = [part async for part in checked.speak(Passage(one.text, None, index, 1))]
        assert isinstance(check, PassageCheck)
        takes = proofreader.heard
        for name in ("planted faults",) if one.fault else (one.kind, "all without faults"):
            tallies[name].add(check, one.text, takes)
        hearing += sum(each.seconds for each in takes)
        audio += sum(chunk.duration for chunk in takes[0].take)
        if check.takes > 1 or not check.passed:
            shown = {
                "kind": one.kind,
                "fault": one.fault or None,
                "text": one.text,
                "wrong": [each.proof.words.wrong for each in takes],
                "kept": check.kept,
                "heard": [takes[0].proof.heard, check.heard],
            }
            if options.second_opinion and check.kept > 1:
                second = [_second_opinion(service, one.text, takes[at].take) for at in (0, check.kept - 1)]
                opinions = [sum(pair) for pair in zip(opinions, second, strict=True)]
                shown["second_opinion"] = second
            print(json.dumps(shown, ensure_ascii=False), flush=True)
        if (index + 1) % _REPORTED == 0:
            sums = {name: tally.row() for name, tally in tallies.items()}
            print(f"{index + 1} sentences: {json.dumps(sums)} {opinions}", file=sys.stderr, flush=True)
    return {
        "groups": {name: tally.row() for name, tally in tallies.items()},
        "second_opinion_of_replaced_takes": opinions if options.second_opinion else None,
        "seconds": round(time.monotonic() - began),
        "hearing_seconds_a_second_of_audio": round(hearing / audio, 2),
    }


def _second_opinion(service: SpeechService, text: str, take: Sequence[AudioChunk]) -> int:
    """Word errors by letters of the recogniser that had no part in the choice."""
    recogniser = service.listening.recognisers.load(MODELS[-1])
    pcm = mono_16k(np.concatenate([chunk.pcm for chunk in take]), take[0].sample_rate)
    heard = recogniser.recognise(pcm, RecognitionTask("en"), lambda: None).text
    return compare_words((spoken_form(text),), heard).errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=24)
    parser.add_argument("--faults", type=int, default=6, help="break the first take of every Nth sentence; 0: of none")
    parser.add_argument("--model", default="", help="the model; else the default one")
    parser.add_argument("--voice", default="af_heart")
    parser.add_argument("--second-opinion", action="store_true")
    summary = asyncio.run(trial(parser.parse_args()))
    for name, row in summary.pop("groups").items():
        print(json.dumps({"group": name} | row))
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
