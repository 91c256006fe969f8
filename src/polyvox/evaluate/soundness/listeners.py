"""The networks that listen to the speech of a check: a recogniser of its words, and an encoder of its speaker."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from polyvox.audio.analysis import ANALYSIS_RATE, mono_16k
from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.errors import AudioDecodeError, BundleError, NotServedError
from polyvox.evaluate.wer import WerResult, word_error_rate
from polyvox.evaluate.wording import compare_words
from polyvox.service.listening.recognisers import Recognisers
from polyvox.types import Pcm
from polyvox.voices.recognition.languages import LANGUAGES
from polyvox.voices.recognition.recogniser import Recogniser, RecognitionTask
from polyvox.voices.recognition.similarity import BUNDLE, Embedding, SpeakerEncoder


@dataclass(frozen=True, slots=True)
class Listeners:
    """The installed listeners; `no_words` and `no_speaker` say how to get those that are not."""

    language: str
    recogniser: Recogniser | None = None
    encoder: SpeakerEncoder | None = None
    no_words: str = ""
    no_speaker: str = ""

    @classmethod
    def of(cls, settings: Settings, language: str, threads: int) -> "Listeners":
        """Load the listeners for speech in a language, by its tag."""
        base = language.partition("-")[0]
        recogniser, no_words = _recogniser(settings, base)
        try:
            encoder, no_speaker = SpeakerEncoder(open_bundle(BUNDLE, settings.models_dir), threads), ""
        except BundleError:
            encoder, no_speaker = None, f"run: {pull_hint(BUNDLE)}"
        return cls(base, recogniser, encoder, no_words, no_speaker)

    def transcribe(self, pcm: Pcm, rate: int) -> str:
        """The words of speech; none in samples that are not finite. There must be a recogniser."""
        assert self.recogniser is not None
        if not np.isfinite(pcm).all():
            return ""
        speech, task = mono_16k(pcm, rate), RecognitionTask(self.language)
        longest = int(self.recogniser.longest * ANALYSIS_RATE)
        windows = (speech[start : start + longest] for start in range(0, len(speech), longest))
        return " ".join(self.recogniser.recognise(window, task, _go_on).text for window in windows)

    def errors(self, text: str, transcript: str) -> WerResult:
        """Errors of a transcript in words; in Chinese in syllables, in Japanese in characters.

        Chinese is compared by its sound without tones: recognisers write traditional characters, and homophones.
        """
        if self.language == "en":
            return compare_words((text,), transcript)
        parted = _PARTED.get(self.language, str)
        return word_error_rate(parted(text), parted(transcript))

    def embed(self, pcm: Pcm, rate: int) -> Embedding | None:
        """The speaker of a recording; None for too short a one, or where there is no encoder."""
        try:
            return None if self.encoder is None else self.encoder.embed(pcm, rate)
        except AudioDecodeError:
            return None


def _syllables(text: str) -> str:
    from pypinyin import lazy_pinyin

    return " ".join(lazy_pinyin(text))


_PARTED: Mapping[str, Callable[[str], str]] = {"zh": _syllables, "ja": " ".join}
"""The parts of a text that are counted, with blanks between them, where it is written without."""


def _recogniser(settings: Settings, language: str) -> tuple[Recogniser | None, str]:
    if language not in LANGUAGES:
        return None, f"no recogniser knows the language {language!r}"
    recognisers = Recognisers(settings)
    try:
        chosen = recognisers.choose(None, RecognitionTask(language))
        return recognisers.load(chosen.model), ""
    except NotServedError as error:
        return None, error.message


def _go_on() -> None:
    """Nobody stops a check but by ending it."""
