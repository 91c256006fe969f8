"""Recognisers that say what a test gives them, in the place of a service's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import numpy as np

from polyvox.audio.decode import decode
from polyvox.audio.pcm import to_pcm16
from polyvox.audio.resample import resampled
from polyvox.service.listening.recognisers import ListeningModel
from polyvox.service.speech import SpeechService
from polyvox.service.voices.transcriber import Lazy
from polyvox.types import Pcm
from polyvox.voices.recognition.languages import LANGUAGES
from polyvox.voices.recognition.recogniser import RATE, HeardWindow, RecognisedWord, Recognition, RecognitionTask

RECORDINGS = Path(__file__).parents[1] / "recordings"
SPEECH = (RECORDINGS / "librivox_a.flac").read_bytes()
"""Three seconds: "He was not an ill-disposed young man.\""""


def bare_speech(rate: int = 24_000, silence: float = 0.8) -> bytes:
    """The sentence between silences, as 16-bit samples."""
    pcm, own_rate = decode(SPEECH, max_seconds=10, max_samples=1_000_000)
    quiet = np.zeros(round(silence * rate), np.float32)
    return to_pcm16(np.concatenate([quiet, resampled(pcm, own_rate, rate), quiet]))


@dataclass
class ScriptedRecogniser:
    """Hears the same words in each window, spread evenly over it; `held` keeps it from answering until it is set."""

    words: Sequence[str] = ("Hello", "there.")
    longest: float = 20.0
    language: str = "en"
    """The language that it detects."""
    held: Event | None = None
    tasks: list[RecognitionTask] = field(default_factory=list)
    windows: list[float] = field(default_factory=list)
    begun: Event = field(default_factory=Event)
    stopped: Event = field(default_factory=Event)

    def recognise(self, window: Pcm, task: RecognitionTask, check: Callable[[], None]) -> Recognition:
        self.tasks.append(task)
        self.begun.set()
        self.windows.append(len(window) / RATE)
        try:
            while self.held is not None and not self.held.wait(0.01):
                check()
        except BaseException:
            self.stopped.set()
            raise
        share = len(window) / RATE / max(1, len(self.words))
        words = [RecognisedWord(word, n * share, (n + 1) * share) for n, word in enumerate(self.words)]
        return Recognition(
            " ".join(self.words),
            task.language or self.language,
            (1, 2),
            -0.25,
            task.temperature,
            tuple(words) if task.words else None,
        )

    def listen(self, window: Pcm) -> HeardWindow:
        return HeardWindow(self.language, 0.9, lambda task, check: self.recognise(window, task, check))


def listening_with(service: SpeechService, **scripted: ScriptedRecogniser) -> SpeechService:
    """The service with these recognisers alone: `english` knows English and nothing else, `any` can do all."""
    models = {
        "english": ListeningModel(
            "english", "English", "nobody/english", frozenset({"en"}), lambda _: scripted["english"]
        ),
        "any": ListeningModel(
            "any",
            "Any",
            "nobody/any",
            frozenset(LANGUAGES),
            lambda _: scripted["any"],
            detects=True,
            translates=True,
            prompts=True,
            samples=True,
        ),
    }
    recognisers = service.listening.recognisers
    recognisers.models = tuple(models[name] for name in models if name in scripted)
    for name, recogniser in scripted.items():
        recognisers._loaded[name] = Lazy(lambda recogniser=recogniser: recogniser)
        recognisers._loaded[name].get()
    return service
