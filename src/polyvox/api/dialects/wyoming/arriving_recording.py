"""A recording that arrives in events, chunk by chunk, and how its client wants it transcribed."""

from collections.abc import Mapping
from typing import Any

from polyvox.audio.encode import wav_header
from polyvox.audio.pcm import MAX_RATE, MIN_RATE
from polyvox.config import Settings
from polyvox.errors import InvalidRequestError
from polyvox.service.admission.pending_bodies import PendingBody
from polyvox.voices.limits import too_large
from polyvox.voices.recognition.languages import language_named, writes_traditional
from polyvox.voices.recognition.recogniser import RecognitionTask

_WIDTH = 2
_MAX_TERMS = 200
_MAX_TERM_CHARS = 100


class ArrivingRecording:
    """The samples so far, counted in `memory` until they are heard. A connection sends one recording at a time."""

    def __init__(self, settings: Settings, memory: PendingBody) -> None:
        self._max_bytes = settings.listen_max_bytes
        self._max_seconds = settings.listen_max_seconds
        self._memory = memory
        self._samples: bytearray | None = None
        self._rate = self._channels = 0

    def begin(self, form: Mapping[str, Any]) -> None:
        """Start with the rate, width and channels that an `audio-start` names."""
        if self._samples is not None:
            raise InvalidRequestError("'audio-start' came before the last recording's 'audio-stop'.")
        rate, width, channels = (form.get(name) for name in ("rate", "width", "channels"))
        if type(rate) is not int or not MIN_RATE <= rate <= MAX_RATE:
            raise InvalidRequestError(f"'rate' of a recording must be {MIN_RATE} to {MAX_RATE} Hz.", field="rate")
        if width != _WIDTH or channels not in (1, 2):
            raise InvalidRequestError("Send 16-bit samples ('width': 2), mono or stereo.", field="width")
        self._rate, self._channels, self._samples = rate, channels, bytearray()

    def add(self, samples: bytes) -> None:
        """Take a chunk; one that belongs to no recording is dropped."""
        if self._samples is None:
            return
        size = len(self._samples) + len(samples)
        if size > min(self._max_bytes, self._max_seconds * self._rate * self._channels * _WIDTH):
            raise too_large(self._max_bytes)
        self._memory.hold(self._memory.held + len(samples))
        self._samples += samples

    def ended(self) -> bytes:
        """The whole recording as a file; its memory counts until `release`."""
        if self._samples is None:
            raise InvalidRequestError("'audio-start' must come before 'audio-stop'.")
        samples, self._samples = bytes(self._samples), None
        header = wav_header(self._rate, self._channels, len(samples))
        self._memory.hold(self._memory.held + len(header))
        return header + samples

    def release(self, size: int) -> None:
        """Count the bytes of a recording no more that has been heard."""
        self._memory.hold(self._memory.held - size)


def transcription_wishes(data: Mapping[str, Any]) -> tuple[RecognitionTask, str | None]:
    """The task that a `transcribe` asks for, and the model that it names."""
    name, language = (_text(data, field) for field in ("name", "language"))
    terms = [*_terms(data, "transcript_names"), *_terms(data, "transcript_terms")]
    task = RecognitionTask(
        language=None if language is None else language_named(language),
        prompt=", ".join(terms),
        traditional=writes_traditional(language),
    )
    return task, name


def _text(data: Mapping[str, Any], field: str) -> str | None:
    value = data.get(field)
    if value is not None and not isinstance(value, str):
        raise InvalidRequestError(f"'{field}' of 'transcribe' must be text.", field=field)
    return value or None


def _terms(data: Mapping[str, Any], field: str) -> list[str]:
    terms = data.get(field) or []
    if not isinstance(terms, list) or len(terms) > _MAX_TERMS:
        raise InvalidRequestError(f"'{field}' must be a list of at most {_MAX_TERMS} words.", field=field)
    if not all(isinstance(term, str) and len(term) <= _MAX_TERM_CHARS for term in terms):
        raise InvalidRequestError(f"'{field}' must hold words of at most {_MAX_TERM_CHARS} characters.", field=field)
    return terms
