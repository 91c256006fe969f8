"""Speech that can be fetched again by a link, with the times of its text beside it."""

import json
import re
from bisect import bisect_right
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from fastapi import APIRouter, Query, Response

from polyvox.api.body_format import AudioFile, AudioStream
from polyvox.api.dependencies import DownloadStore, Owner
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import PRINTABLE
from polyvox.api.responses.error_body import ErrorBody
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
_UNSAFE = re.compile(r"[^A-Za-z0-9 _.()+-]")
_MAX_TIMED_CHUNKS = 20_000


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


@dataclass(slots=True)
class RecordedAudio:
    """The audio of another body format, kept for a download once it is complete."""

    body: AudioStream | AudioFile
    recorder: DownloadRecorder | None
    timing: DownloadRecorder | None
    captions: CaptionSidecar | None = None
    _chunks: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def begun(
        cls, body: AudioStream | AudioFile, with_timing: bool, downloads: Downloads, owner: str
    ) -> "RecordedAudio":
        _check_enabled(downloads)
        recorder = downloads.record(str(body.format), body.media_type, owner)
        return cls(body, recorder, downloads.record("json", "application/json", owner) if with_timing else None)

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
        found = {} if self.recorder is None else {DOWNLOAD_HEADER: f"/download/{self.recorder.name}"}
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
        if chunk.text and len(self._chunks) < _MAX_TIMED_CHUNKS:
            start, end = chunk.start / chunk.sample_rate, chunk.end / chunk.sample_rate
            times = {"start_time": round(start, 4), "end_time": round(end, 4)}
            self._chunks.append({"text": chunk.text, **times, "words": []})
        for word in chunk.words:
            self._note_word(word)

    def _note_word(self, word: WordTiming) -> None:
        """Add a word to the text that it is of: the model's own times come with it, others may come later."""
        texts = self._chunks if word.source is TimingSource.DURATIONS else self._chunks_until(word.start)
        if texts:
            times = {"start_time": round(word.start, 4), "end_time": round(word.end, 4)}
            texts[-1]["words"].append({"word": word.word, **times})
            texts[-1]["timing_source"] = word.source

    def _chunks_until(self, seconds: float) -> list[dict[str, Any]]:
        begun = bisect_right(self._chunks, seconds, key=lambda chunk: cast(float, chunk["start_time"]))
        return self._chunks[: max(begun, 1)]

    def error_tail(self, error: PolyvoxError) -> None:
        return None


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
    stem = _UNSAFE.sub("", name.rpartition("/")[2]).strip(". ").removesuffix(f".{suffix}")[:100] or "speech"
    headers = {
        "Content-Disposition": f'attachment; filename="{stem}.{suffix}"',
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(found.data, media_type=found.media_type, headers=headers)
