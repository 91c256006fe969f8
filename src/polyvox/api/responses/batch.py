"""Batches: many texts in one request, answered with one body of many files.

Items are spoken side by side through ordinary sessions, behind all live requests. Each ends up as a file or as an error
of its own in `results.json`, the last file of the answer.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import structlog
from pydantic import ConfigDict, Field
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from polyvox.api.dependencies import call_of
from polyvox.api.errors import StreamAbortedError
from polyvox.api.refusals import Refusal, Refusals
from polyvox.api.requests.body import off_the_loop
from polyvox.api.requests.fields import RequestBody
from polyvox.api.responses.batch_archive import Archive, MultipartArchive, ZipArchive
from polyvox.api.responses.client_writer import ClientWriter, ended_or_left
from polyvox.api.responses.streaming import FieldNames
from polyvox.audio.encode import AudioFormat
from polyvox.config import Settings
from polyvox.errors import DeadlineError, EngineError, InvalidRequestError, OverloadedError, PolyvoxError, QuotaError
from polyvox.service.call_context import CallContext
from polyvox.service.encoding import encode_whole
from polyvox.service.keys.client_names import batch_client
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest

_RETRY_SECONDS = (1.0, 15.0)
_RESULTS = "results.json"
_JSON = "application/json"

BATCH_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One file for each item that could be spoken, named by its index, and `results.json`, which has "
        "for every item its status, and either its file and duration or its error.",
        "content": {ZipArchive.media_type: {}, "multipart/mixed": {}},
    }
}

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class BatchBody(RequestBody):
    """A batch. Further fields are those of an item, for all items that do not have them."""

    model_config = ConfigDict(extra="allow")

    items: list[Any] = Field(description="The items, each an object with the fields of a single request.")
    archive: Literal["zip", "multipart"] | None = Field(
        None, description="The form of the answer; if absent what `Accept` prefers, and `zip` where it prefers neither."
    )

    def item_fields(self, settings: Settings, text_field: str) -> list[object]:
        """The fields of each item, unchecked; InvalidRequestError where there are too many, or too much text."""
        if not self.items:
            raise InvalidRequestError("'items' is empty; send at least one.", field="items")
        if len(self.items) > settings.batch_max_items:
            raise InvalidRequestError(
                f"'items' has {len(self.items)} items; send {settings.batch_max_items} at most.", field="items"
            )
        shared = self.model_extra or {}
        found = [{**shared, **_given(item)} if isinstance(item, dict) else item for item in self.items]
        texts = [item.get(text_field) for item in found if isinstance(item, dict)]
        chars = sum(len(text) for text in texts if isinstance(text, str))
        if chars > settings.batch_max_chars:
            raise InvalidRequestError(
                f"The items have {chars:,} characters together; this server takes {settings.batch_max_chars:,} in one "
                "batch. Send it in parts.",
                field="items",
            )
        return found


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One item, ready to be spoken."""

    request: SpeechRequest
    format: AudioFormat


ReadItem = Callable[[object], Awaitable[BatchItem]]
"""Checks the fields of an item; raises what is wrong with them."""


class BatchResponse(Response):
    """Speaks the items of a batch, and sends each as soon as it is complete.

    At most as many items at once as the server's share for batches are held in memory. A client that leaves ends all
    of them.
    """

    def __init__(
        self,
        service: SpeechService,
        items: Sequence[object],
        read: ReadItem,
        archive: Literal["zip", "multipart"] | None,
    ) -> None:
        super().__init__()
        self._service = service
        self._items = items
        self._read = read
        self._archive = archive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call, patience = call_of(scope), self._service.settings.deadline_seconds / 2
        await self._service.count_request(call.client)
        with self._service.batches.held(call.client):
            state = scope["app"].state
            batch = _Batch(
                service=self._service,
                read=self._read,
                call=replace(call, client=batch_client(call.client), max_wait=patience, background=True),
                wording=_Wording(state.refusals, state.field_names[scope["path"]], scope["path"]),
                archive=_archive(self._archive, Headers(scope=scope).get("accept", "")),
                writer=ClientWriter(send, self._service.settings.stall_seconds),
            )
            speaking = await ended_or_left(batch.speak(self._items), receive)
        if not speaking.cancelled():
            speaking.result()


@dataclass(frozen=True, slots=True)
class _Wording:
    """The wording of an item's error by the door of a path."""

    refusals: Refusals
    names: FieldNames
    path: str

    def of(self, error: PolyvoxError) -> dict[str, Any]:
        field = None if error.field is None else self.names.get(error.field, error.field)
        status, body = self.refusals.worded(replace(Refusal.of(error), field=field), self.path)
        return {"status": status, "file": None, **body}


class _Batch:
    """One batch under way."""

    def __init__(
        self,
        service: SpeechService,
        read: ReadItem,
        call: CallContext,
        wording: _Wording,
        archive: Archive,
        writer: ClientWriter,
    ) -> None:
        self._service = service
        self._settings = service.settings
        self._read = read
        self._call = call
        self._wording = wording
        self._archive = archive
        self._writer = writer
        self._writing = asyncio.Lock()
        self._results: dict[int, dict[str, Any]] = {}
        self._ends = asyncio.get_running_loop().time() + self._settings.batch_deadline_seconds

    async def speak(self, items: Sequence[object]) -> None:
        """Speak all items and answer."""
        waiting = iter(enumerate(items))
        workers = min(len(items), max(1, self._settings.max_sessions // 2))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(waiting))
        except ExceptionGroup as failed:
            raise StreamAbortedError("the answer to a batch was broken off") from failed
        results = [self._results[index] for index in range(len(items))]
        log.info("batch", items=len(results), failed=sum(result["file"] is None for result in results))
        await self._send(_RESULTS, _JSON, json.dumps({"results": results}, ensure_ascii=False, indent=1).encode())
        await self._writer.write(self._archive.end())
        await self._writer.finish()

    async def _work(self, waiting: Iterator[tuple[int, object]]) -> None:
        for index, fields in waiting:
            self._results[index] = {"index": index, **await self._result(index, fields)}

    async def _result(self, index: int, fields: object) -> dict[str, Any]:
        """The result of an item, whose file has been sent."""
        try:
            return await self._spoken(index, await self._read(fields))
        except TimeoutError:
            late = f"The batch took longer than its {self._settings.batch_deadline_seconds:g} s; send fewer items."
            return self._wording.of(DeadlineError(late))
        except PolyvoxError as error:
            return self._wording.of(error)
        except StreamAbortedError:
            raise
        except Exception:
            log.exception("item of a batch failed", index=index)
            return self._wording.of(EngineError(f"Item {index} failed; the cause is in the server's log."))

    async def _spoken(self, index: int, item: BatchItem) -> dict[str, Any]:
        """Speak an item; one for which there is no room just now waits until there is."""
        shortest, longest = _RETRY_SECONDS
        while True:
            try:
                return await self._attempt(index, item)
            except QuotaError:
                raise  # it comes back tomorrow
            except OverloadedError as error:
                log.debug("item of a batch waits", index=index, reason=str(error.reason))
                async with asyncio.timeout_at(self._ends):
                    await asyncio.sleep(min(longest, max(shortest, error.retry_after)))

    async def _attempt(self, index: int, item: BatchItem) -> dict[str, Any]:
        name, media_type = f"{index:03d}.{item.format}", item.format.media_type
        async with await self._service.open(item.request, self._call, whole=True) as session:
            async with asyncio.timeout_at(self._ends):
                data = await encode_whole(session, item.format)
            self._archive.check_room(len(data))
            await self._send(name, media_type, data)
            return {
                "status": 200,
                "file": name,
                "media_type": media_type,
                "bytes": len(data),
                "duration": round(session.audio_seconds, 3),
                "session_id": session.id,
                "warnings": list(session.warnings),
            }

    async def _send(self, name: str, media_type: str, data: bytes) -> None:
        """Add a file to the answer; one that has been begun cannot be taken back, so any failure ends the answer."""
        async with self._writing:
            try:
                parts = await off_the_loop(data, partial(self._archive.file, name, media_type))
                if not self._writer.started:
                    await self._writer.start(self._headers())
                for part in parts:
                    await self._writer.write(part)
            except Exception as error:
                raise StreamAbortedError("the client of a batch cannot be written to") from error

    def _headers(self) -> MutableHeaders:
        headers = MutableHeaders({"Content-Type": self._archive.media_type, "Cache-Control": "no-store"})
        headers["X-Accel-Buffering"] = "no"
        if isinstance(self._archive, ZipArchive):
            headers["Content-Disposition"] = 'attachment; filename="speech.zip"'
        return headers


def _given(item: dict[str, Any]) -> dict[str, Any]:
    """The fields of an item that are not null, which means "not given"."""
    return {name: value for name, value in item.items() if value is not None}


def _archive(asked: Literal["zip", "multipart"] | None, accept: str) -> Archive:
    """The archive that the request names, or that its Accept header names first."""
    if asked is None:
        kinds = [kind.partition(";")[0].strip().lower() for kind in accept.split(",")]
        preferred = [kind for kind in kinds if kind in (ZipArchive.media_type, "multipart/mixed")]
        asked = "multipart" if preferred[:1] == ["multipart/mixed"] else "zip"
    return MultipartArchive() if asked == "multipart" else ZipArchive()
