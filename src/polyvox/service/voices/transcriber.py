"""Networks for recordings: speech detection, transcription, speaker embedding. Each is loaded on first use."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import structlog

from polyvox.bundles.validate import Bundle, open_bundle
from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.errors import AudioDecodeError, BundleError, NotServedError
from polyvox.types import Pcm, Span
from polyvox.voices.recognition.similarity import BUNDLE as SPEAKER_BUNDLE
from polyvox.voices.recognition.similarity import SpeakerEncoder
from polyvox.voices.recognition.transcribe import Moonshine
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
        self._recogniser = Lazy(lambda: Moonshine(_bundle(ASR_BUNDLE, folder, "To do without a transcript")))
        self._encoder = Lazy(lambda: SpeakerEncoder(open_bundle(SPEAKER_BUNDLE, folder)))

    def speech(self, pcm: Pcm, rate: int) -> list[Span]:
        """Spans of speech, in samples."""
        return self._detector.get().speech(pcm, rate)

    def check_available(self) -> None:
        """Raise the typed error if `transcribe` could not work."""
        self._recogniser.get()

    def transcribe(self, pcm: Pcm, rate: int) -> str:
        """The transcript; English only."""
        return self._recogniser.get().transcribe(pcm, rate)

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


def _bundle(name: str, folder: Path, purpose: str) -> Bundle:
    """Open an installed bundle; the error for callers does not show the server's folders."""
    try:
        return open_bundle(name, folder)
    except BundleError as error:
        log.warning("model for recordings missing", model=name, reason=error.message)
        raise NotServedError(f"{purpose} this server needs another model; run: {pull_hint(name)}") from error
