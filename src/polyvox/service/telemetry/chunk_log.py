"""The log of chunks: one JSON line for each, in a rotated file."""

import json
import queue
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import structlog

from polyvox.service.telemetry.chunk_record import chunk_ranges, chunk_times, pcm_hash, policy_fields
from polyvox.service.telemetry.rotated_file import RotatedFile
from polyvox.types import AudioChunk

_QUEUED_BYTES = 67_108_864
"""Samples that may wait to be hashed and written."""

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class ChunkLog:
    """Writes records on a thread of its own. Speech never waits for it: what cannot be written is lost and counted."""

    def __init__(self, file: RotatedFile, on_lost: Callable[[], None]) -> None:
        self._file = file
        self._on_lost = on_lost
        self._queue: queue.SimpleQueue[tuple[Mapping[str, Any], AudioChunk] | None] = queue.SimpleQueue()
        self._queued_bytes = 0
        self._lock = threading.Lock()
        self._failing = False
        self._thread = threading.Thread(target=self._write_all, name="polyvox-chunk-log", daemon=True)
        self._thread.start()

    def add(self, session: Mapping[str, Any], chunk: AudioChunk) -> None:
        """Queue the record of a chunk; `session` holds the fields of its session."""
        with self._lock:
            full = self._queued_bytes + chunk.pcm.nbytes > _QUEUED_BYTES
            if not full:
                self._queued_bytes += chunk.pcm.nbytes
        if full:
            self._lost("the disk is too slow for its records")
        else:
            self._queue.put(({"time": datetime.now(UTC).isoformat(), **session}, chunk))

    def close(self) -> None:
        """Write what is queued and close the file."""
        self._queue.put(None)
        self._thread.join()

    def _write_all(self) -> None:
        while (queued := self._queue.get()) is not None:
            session, chunk = queued
            self._write(session, chunk)
            with self._lock:
                self._queued_bytes -= chunk.pcm.nbytes
        self._file.close()

    def _write(self, session: Mapping[str, Any], chunk: AudioChunk) -> None:
        record = {
            **session,
            "policy": policy_fields(chunk.policy),
            "index": chunk.index,
            **chunk_ranges(chunk),
            "sha256": pcm_hash(chunk.pcm),
            **chunk_times(chunk),
        }
        try:
            self._file.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            self._failing = False
        except OSError as error:
            self._file.close()
            self._lost(str(error))

    def _lost(self, reason: str) -> None:
        """Count a lost record, and warn of the first in a row."""
        self._on_lost()
        if not self._failing:
            self._failing = True
            log.warning("chunks are not logged; make room or change chunk_log", reason=reason)
