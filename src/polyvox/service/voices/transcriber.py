"""Networks for recordings: speech detection, transcription, speaker embedding. Each is loaded on first use."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, TypeVar
from weakref import WeakValueDictionary

import structlog

from polyvox.audio.analysis import mono_16k
from polyvox.bundles.validate import Bundle, open_bundle
from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.errors import AudioDecodeError, BundleError, NotServedError
from polyvox.types import Pcm, Span
from polyvox.voices.recognition.languages import UNSPACED, language_named
from polyvox.voices.recognition.recogniser import Recogniser, RecognitionTask
from polyvox.voices.recognition.similarity import BUNDLE as SPEAKER_BUNDLE
from polyvox.voices.recognition.similarity import SpeakerEncoder
from polyvox.voices.recognition.transcribe import ENGLISH, Moonshine, windows
from polyvox.voices.recognition.whisper import Whisper
from polyvox.voices.recording.vad import SileroVad
from polyvox.voices.records import Embedding

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

ASR_BUNDLE = "moonshine-base"
MULTILINGUAL_BUNDLE = "whisper-base"

Loaded = TypeVar("Loaded")


class Transcriber:
    """Detects speech, transcribes and embeds speakers. Methods block and are thread-safe.

    A model that is not installed is looked for again at the next call, so that pulling it needs no restart.
    """

    def __init__(self, settings: Settings) -> None:
        folder = settings.models_dir
        self._detector = Lazy(SileroVad)
        self._english = Lazy(lambda: shared_recogniser(ASR_BUNDLE, folder, Moonshine))
        self._multilingual = Lazy(lambda: shared_recogniser(MULTILINGUAL_BUNDLE, folder, Whisper))
        self._encoder = Lazy(lambda: SpeakerEncoder(open_bundle(SPEAKER_BUNDLE, folder)))

    def speech(self, pcm: Pcm, rate: int) -> list[Span]:
        """Spans of speech, in samples."""
        return self._detector.get().speech(pcm, rate)

    def check_available(self, language: str | None = None) -> None:
        """Raise the typed error if `transcribe` could not work."""
        self._recogniser(language)

    def transcribe(self, pcm: Pcm, rate: int, language: str | None = None) -> str:
        """The transcript; without a language in the one that is heard, where the model for it is installed."""
        recogniser, task = self._recogniser(language), RecognitionTask(language=_code(language))
        parts = windows(mono_16k(pcm, rate), recogniser.longest)
        found = [recogniser.recognise(part, task, lambda: None) for part in parts]
        gap = "" if found[0].language in UNSPACED else " "
        return gap.join(each.text for each in found if each.text)

    def _recogniser(self, language: str | None) -> Recogniser:
        """The first installed one of those that know the language; of English, its own recogniser comes first."""
        known = {ENGLISH: (self._english, self._multilingual), None: (self._multilingual, self._english)}
        choices = known.get(_code(language), (self._multilingual,))
        reasons = []
        for choice in choices:
            try:
                return choice.get()
            except BundleError as error:
                reasons.append(error)
        wanted = MULTILINGUAL_BUNDLE if len(choices) == 1 else ASR_BUNDLE
        log.warning("model for recordings missing", model=wanted, reason=reasons[0].message)
        raise NotServedError(
            f"To do without a transcript this server needs another model; run: {pull_hint(wanted)}"
        ) from reasons[0]

    def embed(self, pcm: Pcm, rate: int) -> Embedding | None:
        """The speaker embedding; None for too short a recording, or where its model is not installed."""
        try:
            return self._encoder.get().embed(pcm, rate)
        except (BundleError, AudioDecodeError) as error:
            log.debug("speaker not recognised", reason=error.message)
            return None


class Lazy(Generic[Loaded]):
    """A large object that is loaded once, on first use."""

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @property
    def loaded(self) -> bool:
        return self._loaded is not None

    def get(self) -> Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded


_loaded: Final[WeakValueDictionary[tuple[str, Path], Recogniser]] = WeakValueDictionary()
_loading: Final = threading.Lock()


def shared_recogniser(name: str, folder: Path, load: Callable[[Bundle], Recogniser]) -> Recogniser:
    """The recogniser of an installed bundle, one for all of this process; BundleError where it is missing."""
    with _loading:
        found = _loaded.get((name, folder))
        if found is None:
            found = _loaded[name, folder] = load(open_bundle(name, folder))
        return found


def _code(language: str | None) -> str | None:
    """The code of a language, None where it is not known; registered voices write that as an empty one."""
    return language_named(language) if language else None
