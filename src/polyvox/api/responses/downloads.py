"""Speech that can be fetched again by a link, with the times of its text beside it."""

import json
import re
from bisect import bisect_right
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np
from fastapi import APIRouter, Query, Response

from polyvox.api.body_format import AudioFile, AudioStream
from polyvox.api.dependencies import DownloadStore, Owner
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import PRINTABLE
from polyvox.api.responses.error_body import ErrorBody
from polyvox.audio.encode import AudioFormat
from polyvox.errors import ForbiddenError, PolyvoxError
from polyvox.service.encoding import encode_whole, encoded
from polyvox.service.jobs.downloads import DownloadRecorder, Downloads
from polyvox.service.session import Session
from polyvox.service.words.caption_track import CaptionTrack
from polyvox.text.captions import CAPTION_MEDIA_TYPES, CAPTION_SUFFIXES, CaptionFormat
from polyvox.types import AudioChunk, TimingSource, WordTiming

router = APIRouter(route_class=JsonRoute, tags=["Kokoro-FastAPI"])

DOWNLOAD_HEADER = "X-Download-Path"
TIMING_HEADER = "X-Timing-Path"
CAPTIONS_HEADER = "X-Captions"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_MAX_TIMED_CHUNKS = 20_000
_PAUSE_SECONDS = 0.5
"""Silence from which on it is a pause in the times of a text: longer than what engines leave between sentences."""
_SILENCE = 1e-4


@dataclass(frozen=True, slots=True)
class CaptionSidecar:
    """Captions beside audio, to be fetched once the audio is complete."""

    format: CaptionFormat
    track: CaptionTrack
    recorder: DownloadRecorder

    @classmethod
    def begun(
        cls, caption_format: CaptionFormat, track: CaptionTrack, downloads: Downloads, owner: str
    ) -> "CaptionSidecar":
        _check_enabled(downloads)
        suffix, media_type = CAPTION_SUFFIXES[caption_format], CAPTION_MEDIA_TYPES[caption_format]
        return cls(caption_format, track, downloads.record(suffix, media_type, owner))

    async def finish(self, session: Session) -> None:
        """Write the file; long captions are no reason to keep other requests waiting."""
        written = await session.executor.run(partial(self.track.written, self.format))
        self.recorder.write(written.encode())
        self.recorder.finish()


def _check_enabled(downloads: Downloads) -> None:
    if not downloads.enabled:
        raise ForbiddenError("This server has no download links; its setting max_downloads turns them on.")


def begin_download(audio_format: AudioFormat, downloads: Downloads, owner: str) -> DownloadRecorder:
    """A file of audio to be fetched once it is complete; `ForbiddenError` where there are no links."""
    _check_enabled(downloads)
    return downloads.record(str(audio_format), audio_format.media_type, owner)


def download_header(recorder: DownloadRecorder) -> dict[str, str]:
    """The header that names a file."""
    return {DOWNLOAD_HEADER: f"/download/{recorder.name}"}


@dataclass(slots=True)
class RecordedAudio:
    """The audio of another body format, kept for a download once it is complete."""

    body: AudioStream | AudioFile
    recorder: DownloadRecorder | None
    timing: DownloadRecorder | None
    captions: CaptionSidecar | None = None
    _chunks: list[dict[str, Any]] = field(default_factory=list)
    _begun: float | None = None
    """Start of audio whose text has not come yet."""

    @classmethod
    def begun(
        cls, body: AudioStream | AudioFile, with_timing: bool, downloads: Downloads, owner: str
    ) -> "RecordedAudio":
        recorder = begin_download(body.format, downloads, owner)
        timing = downloads.record_beside(recorder, "json", "application/json") if with_timing else None
        return cls(body, recorder, timing)

    @classmethod
    def captioned(cls, body: "AudioStream | AudioFile | RecordedAudio", captions: CaptionSidecar) -> "RecordedAudio":
        """The same audio with captions beside it; what is not recorded already is not."""
        if isinstance(body, RecordedAudio):
            return replace(body, captions=captions)
        return cls(body, None, None, captions)

    @property
    def media_type(self) -> str:
        return self.body.media_type

    @property
    def buffered(self) -> bool:
        return self.body.buffered

    @property
    def headers(self) -> dict[str, str]:
        """Addresses at which the files will be: below `/v1` as Kokoro-FastAPI has it, but for the captions."""
        found = {} if self.recorder is None else download_header(self.recorder)
        if self.timing is not None:
            found[TIMING_HEADER] = f"/download/{self.timing.name}"
        if self.captions is not None:
            found[CAPTIONS_HEADER] = f"/v1/download/{self.captions.recorder.name}"
        return found

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        try:
            async with aclosing(self._written(session)) as parts:
                async for part in parts:
                    if self.recorder is not None:
                        self.recorder.write(part)
                    yield part
            await self._finish(session)
        finally:
            captions = None if self.captions is None else self.captions.recorder
            for recorder in filter(None, (self.recorder, self.timing, captions)):
                recorder.discard()

    async def _finish(self, session: Session) -> None:
        if self.recorder is not None:
            self.recorder.finish()
        if self.timing is not None:
            self.timing.write(json.dumps({"chunks": self._chunks}, ensure_ascii=False).encode())
            self.timing.finish()
        if self.captions is not None:
            await self.captions.finish(session)

    async def _written(self, session: Session) -> AsyncGenerator[bytes]:
        if self.buffered:
            yield await encode_whole(session, self.body.format, self._note)
            return
        async with aclosing(encoded(session, self.body.format)) as parts:
            async for part in parts:
                if part.chunk is not None:
                    self._note(part.chunk)
                if part.data:
                    yield part.data

    def _note(self, chunk: AudioChunk) -> None:
        if self.captions is not None:
            self.captions.track.add(chunk)
        if self.timing is None:
            return
        if chunk.end > chunk.start and len(self._chunks) < _MAX_TIMED_CHUNKS:
            self._note_chunk(chunk)
        for word in chunk.words:
            self._note_word(word)

    def _note_chunk(self, chunk: AudioChunk) -> None:
        """Add a chunk and the pause behind it; audio that comes without its text is of the text before, or after."""
        rate, pause = chunk.sample_rate, _pause_samples(chunk)
        silent_from = chunk.end - pause
        last: dict[str, Any] = self._chunks[-1] if self._chunks else {"text": ""}
        if chunk.text:
            voice = {"voice": chunk.voice} if chunk.voice else {}
            times = _times(chunk.start / rate if self._begun is None else self._begun, silent_from / rate)
            self._chunks.append({"text": chunk.text, **times, **voice, "words": []})
            self._begun = None
        elif silent_from > chunk.start and last["text"]:
            last |= _times(last["start"], silent_from / rate)
        elif silent_from > chunk.start and self._begun is None:
            self._begun = chunk.start / rate
        if not pause:
            return
        if self._chunks and not self._chunks[-1]["text"]:
            self._chunks[-1] |= _times(self._chunks[-1]["start"], chunk.end / rate)
        else:
            self._chunks.append({"text": "", **_times(silent_from / rate, chunk.end / rate)})

    def _note_word(self, word: WordTiming) -> None:
        """Add a word to the text that it is of: the model's own times come with it, others may come later."""
        begun = self._chunks if word.source is TimingSource.DURATIONS else self._chunks_until(word.start)
        chunk = next((chunk for chunk in reversed(begun) if chunk["text"]), None)
        if chunk is not None:
            times = {"start_time": round(word.start, 4), "end_time": round(word.end, 4)}
            chunk["words"].append({"word": word.word, **times})
            chunk["timing_source"] = word.source

    def _chunks_until(self, seconds: float) -> list[dict[str, Any]]:
        begun = bisect_right(self._chunks, seconds, key=lambda chunk: cast(float, chunk["start_time"]))
        return self._chunks[: max(begun, 1)]

    def error_tail(self, error: PolyvoxError) -> None:
        return None


def _pause_samples(chunk: AudioChunk) -> int:
    """Samples of silence at the end of a chunk, or in all of it, where they are a pause; else 0."""
    sounding = np.flatnonzero(np.abs(chunk.pcm if chunk.pcm.ndim == 1 else chunk.pcm.max(axis=1)) > _SILENCE)
    last = int(sounding[-1]) + 1 if len(sounding) else 0
    silent = chunk.end - chunk.start - last
    return silent if silent >= _PAUSE_SECONDS * chunk.sample_rate else 0


def _times(start: float, end: float) -> dict[str, float]:
    """Start and end, by the names of Kokoro-FastAPI's documents and of its web player."""
    start, end = round(start, 4), round(end, 4)
    return {"start": start, "end": end, "start_time": start, "end_time": end}


@router.get(
    "/v1/download/{file}",
    response_class=Response,
    responses={
        200: {"content": {"audio/*": {}}},
        400: {"model": ErrorBody, "description": "The name holds characters that no file name has."},
        404: {"model": ErrorBody, "description": "No such file."},
    },
)
async def download(
    file: str,
    downloads: DownloadStore,
    owner: Owner,
    name: str = Query(
        "", max_length=200, pattern=PRINTABLE, description="The name that the browser is to save the file by."
    ),
) -> Response:
    """A file that `return_download_link` or `captions` announced, with the same key."""
    found = downloads.find(file, owner)
    suffix = found.name.rpartition(".")[2]
    stem = _UNSAFE.sub("_", _SUFFIX.sub("", name)).strip("._")[:100] or "speech"
    headers = {
        "Content-Disposition": f'attachment; filename="{stem}.{suffix}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(found.data, media_type=found.media_type, headers=headers)
