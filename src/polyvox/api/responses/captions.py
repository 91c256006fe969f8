"""Captions of speech: files of them, and words with their times as JSON in Kokoro-FastAPI's shape."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from polyvox.api.responses.caption_bodies import (
    Captioned,
    MarkTimestamp,
    PhonemeTimestamp,
    Timestamps,
    VisemeTimestamp,
    VoicedTimestamp,
    WordTimestamp,
)
from polyvox.api.responses.events import chunk_info
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.audio.encode import AudioFormat
from polyvox.errors import InvalidRequestError, PolyvoxError
from polyvox.service.encoding import encode_whole, encoded
from polyvox.service.jobs.downloads import DownloadRecorder
from polyvox.service.session import Session
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.words.caption_track import CaptionTrack
from polyvox.service.words.sounds import NO_SOUNDS, SoundChoice
from polyvox.service.words.viseme_track import Viseme, VisemeTrack
from polyvox.text.captions import CAPTION_MEDIA_TYPES, CAPTION_SUFFIXES, CaptionFormat
from polyvox.types import AudioChunk, PhonemeTiming, TimingSource, WordTiming, least_exact

_SLICE_BYTES = 786_432
"""A multiple of three, so that the base64 of the slices is that of the whole."""


@dataclass(frozen=True, slots=True)
class CaptionStream:
    """One JSON object a line, each with a part of the audio and the words spoken in it."""

    format: AudioFormat
    timestamps: bool
    chunks: bool = False
    """True if each object also has the position and the hash of the chunks in it."""
    voiced: bool = False
    """True if words have a voice also where all have the same."""
    recorder: DownloadRecorder | None = None
    """Keeps the audio for a download."""
    sounds: SoundChoice = NO_SOUNDS
    media_type = "application/json"  # as Kokoro-FastAPI labels it, though it is one object a line
    buffered = False

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        # An encoder may hold a chunk's audio back; its words then wait with it.
        waiting = _Timings(session.voice if self.voiced else "", self.sounds)
        chunks: list[dict[str, Any]] = []
        with _recorded(self.recorder) as record:
            async with aclosing(encoded(session, self.format)) as parts:
                async for part in parts:
                    if part.chunk is not None:
                        waiting.add(part.chunk)
                        chunks += [await chunk_info(part.chunk)] if self.chunks else []
                    if part.data:
                        record(part.data)
                        told = {"chunks": chunks} if self.chunks else {}
                        yield _caption(self.format, part.data, waiting if self.timestamps else None, told) + b"\n"
                        waiting, chunks = waiting.following(), []
            waiting.finish()
            if self.timestamps and waiting:
                yield _caption(self.format, b"", waiting) + b"\n"

    def error_tail(self, error: PolyvoxError) -> None:
        return None


@dataclass(frozen=True, slots=True)
class CaptionFile:
    """One JSON object with the whole file and all words."""

    format: AudioFormat
    timestamps: bool
    voiced: bool = False
    recorder: DownloadRecorder | None = None
    sounds: SoundChoice = NO_SOUNDS
    media_type = "application/json"
    buffered = True

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        timings = _Timings(session.voice if self.voiced else "", self.sounds)
        with _recorded(self.recorder) as record:
            data = await encode_whole(session, self.format, timings.add)
            record(data)
        timings.finish()
        await session.output.grow_to(len(data) + 4 * len(data) // 3)
        head, tail = await session.executor.run(
            partial(_around_audio, self.format, timings if self.timestamps else None)
        )
        yield head
        for start in range(0, len(data), _SLICE_BYTES):
            yield base64.b64encode(data[start : start + _SLICE_BYTES])
            await asyncio.sleep(0)  # one long file is no reason to keep others waiting
        yield tail

    def error_tail(self, error: PolyvoxError) -> None:
        return None


@dataclass(frozen=True, slots=True)
class TimestampsFile:
    """One JSON object with all words, without the audio."""

    voiced: bool = False
    sounds: SoundChoice = NO_SOUNDS
    media_type = "application/json"
    buffered = True

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        timings = _Timings(session.voice if self.voiced else "", self.sounds)
        async for chunk in session:
            timings.add(chunk)
        timings.finish()
        found = Timestamps(
            timestamps=timings.words,
            timing_source=timings.source,
            marks=timings.marks or None,
            visemes=timings.visemes,
        )
        yield (await session.executor.run(found.model_dump_json)).encode()

    def error_tail(self, error: PolyvoxError) -> None:
        return None


@dataclass(frozen=True, slots=True)
class CaptionsOnly:
    """A file of captions, without the audio."""

    format: CaptionFormat
    track: CaptionTrack
    buffered = True

    @property
    def media_type(self) -> str:
        return CAPTION_MEDIA_TYPES[self.format]

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Disposition": f"attachment; filename=speech.{CAPTION_SUFFIXES[self.format]}"}

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        async for chunk in session:
            self.track.add(chunk)
        yield (await session.executor.run(partial(self.track.written, self.format))).encode()

    def error_tail(self, error: PolyvoxError) -> None:
        return None


def captions_response(
    service: SpeechService, request: SpeechRequest, caption_format: CaptionFormat, track: CaptionTrack
) -> SpeechResponse:
    """The answer to a request for captions alone."""
    body_format = CaptionsOnly(caption_format, track)
    return SpeechResponse(service, replace(request, words=True), body_format, headers=body_format.headers)


def check_captions_beside_events(captions: CaptionFormat | None) -> None:
    """Refuse captions beside server-sent events, which say when each word is heard themselves."""
    if captions is not None:
        raise InvalidRequestError(
            "Captions come beside audio, not beside events; leave stream_format out, or take the words of the events "
            "with the header X-Polyvox-Chunks: 1.",
            field="captions",
        )


def caption_types() -> dict[str, dict[str, Any]]:
    """The media types of captions, for the description of an answer."""
    return {media_type: {} for media_type in CAPTION_MEDIA_TYPES.values()}


@contextmanager
def _recorded(recorder: DownloadRecorder | None) -> Iterator[Callable[[bytes], None]]:
    """A function that adds audio to a download, which is complete where the block ends well."""
    if recorder is None:
        yield lambda _: None
        return
    try:
        yield recorder.write
        recorder.finish()
    finally:
        recorder.discard()


@dataclass(slots=True)
class _Timings:
    """The words, marks and sounds of some audio; `voice` is that of words whose chunk names none, if it is to be told.

    `track` goes on with the audio that follows.
    """

    voice: str = ""
    sounds: SoundChoice = NO_SOUNDS
    track: VisemeTrack = field(default_factory=VisemeTrack)
    words: list[WordTimestamp] = field(default_factory=list)
    marks: list[MarkTimestamp] = field(default_factory=list)
    visemes: list[VisemeTimestamp] | None = None
    source: TimingSource | None = None
    """The least exact of the words' times."""

    def __post_init__(self) -> None:
        self.visemes = [] if self.sounds.visemes else None

    def __bool__(self) -> bool:
        return bool(self.words or self.marks or self.visemes)

    def following(self) -> "_Timings":
        """The timings of the audio behind this."""
        return _Timings(self.voice, self.sounds, self.track)

    def finish(self) -> None:
        """Note the end of the speech."""
        self._show(self.track.finish())

    def add(self, chunk: AudioChunk) -> None:
        self.source = least_exact(filter(None, (self.source, chunk.timing_source)))
        self.words += (_stamp(word, chunk.voice or self.voice, self.sounds.phonemes) for word in chunk.words)
        self._show(self.track.add(chunk))
        self.marks += (MarkTimestamp(name=mark.name, time=round(mark.time, 4)) for mark in chunk.marks)

    def _show(self, shown: Iterable[Viseme]) -> None:
        if self.visemes is not None:
            self.visemes += (VisemeTimestamp(**viseme.fields) for viseme in shown)


def _stamp(word: WordTiming, voice: str, phonemes: bool) -> WordTimestamp:
    start, end = round(word.start, 4), round(word.end, 4)
    sounds = [_phoneme_stamp(phoneme) for phoneme in word.phonemes] if phonemes else None
    if voice:
        return VoicedTimestamp(word=word.word, start_time=start, end_time=end, phonemes=sounds, voice=voice)
    return WordTimestamp(word=word.word, start_time=start, end_time=end, phonemes=sounds)


def _phoneme_stamp(phoneme: PhonemeTiming) -> PhonemeTimestamp:
    return PhonemeTimestamp(phoneme=phoneme.phoneme, start_time=round(phoneme.start, 4), end_time=round(phoneme.end, 4))


def _around_audio(audio_format: AudioFormat, timings: _Timings | None) -> tuple[bytes, bytes]:
    """The bytes before and behind the audio, the first field of the object."""
    head, empty, tail = _caption(audio_format, b"", timings).partition(b'""')
    return head + empty[:1], empty[1:] + tail


def _caption(
    audio_format: AudioFormat,
    data: bytes,
    timings: _Timings | None,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> bytes:
    caption = Captioned(
        audio=base64.b64encode(data).decode(),
        audio_format=audio_format.media_type,
        timestamps=None if timings is None else timings.words,
        timing_source=None if timings is None else timings.source,
        marks=None if timings is None else timings.marks or None,
        visemes=None if timings is None else timings.visemes,
    )
    return json.dumps({**caption.model_dump(), **more}, ensure_ascii=False, separators=(",", ":")).encode()
