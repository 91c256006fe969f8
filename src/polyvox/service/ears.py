"""What listens to recordings: is it speech, what is said, who speaks. Each network is loaded when first needed."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import structlog

from polyvox.bundles.validate import Bundle, open_bundle
from polyvox.config import Settings
from polyvox.errors import AudioDecodeError, BundleError, UnavailableError
from polyvox.types import Pcm, Span
from polyvox.voices.records import Embedding
from polyvox.voices.similarity import BUNDLE as SPEAKERS
from polyvox.voices.similarity import SpeakerEncoder
from polyvox.voices.transcribe import Moonshine
from polyvox.voices.vad import SileroVad

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

SPEECH = "silero-vad"
WORDS = "moonshine-base"

Loaded = TypeVar("Loaded")


class Ears:
    """The networks for recordings. Methods block and may be called from any thread.

    A model that is not installed is looked for again at the next call, so that pulling it needs no restart.
    """

    def __init__(self, settings: Settings) -> None:
        folder = settings.models_dir
        self._detector = _Late(lambda: SileroVad(_bundle(SPEECH, folder, "To check a recording")))
        self._recogniser = _Late(lambda: Moonshine(_bundle(WORDS, folder, "To do without a transcript")))
        self._encoder = _Late(lambda: SpeakerEncoder(open_bundle(SPEAKERS, folder)))

    def speech(self, pcm: Pcm, rate: int) -> list[Span]:
        """Where somebody speaks."""
        return self._detector.get().speech(pcm, rate)

    def check_words(self) -> None:
        """Raise the typed error if `transcribe` could not work."""
        self._recogniser.get()

    def transcribe(self, pcm: Pcm, rate: int) -> str:
        """What is said, in English."""
        return self._recogniser.get().transcribe(pcm, rate)

    def embed(self, pcm: Pcm, rate: int) -> Embedding | None:
        """How the speaker sounds; None for too short a recording, and where the model for that is not installed."""
        try:
            return self._encoder.get().embed(pcm, rate)
        except (BundleError, AudioDecodeError) as error:
            log.debug("speaker not recognised", reason=error.message)
            return None


class _Late(Generic[Loaded]):
    """Something large that is loaded once, when it is first asked for."""

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    def get(self) -> Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded


def _bundle(name: str, folder: Path, purpose: str) -> Bundle:
    """An installed bundle; where it is missing, a sentence without the server's folders in it."""
    try:
        return open_bundle(name, folder)
    except BundleError as error:
        log.warning("model for recordings missing", model=name, reason=error.message)
        raise UnavailableError(f"{purpose} this server needs another model; run: polyvox pull {name}") from error
