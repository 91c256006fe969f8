"""The library espeak-ng that a Python package carries, in processes of its own."""

import importlib.util
import subprocess
import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final

from polyvox.child_process import end_blocking_child, start_blocking_child
from polyvox.errors import EngineError, NotServedError
from polyvox.text.phonemes.espeak.lines import answered, batches, encoded
from polyvox.text.phonemes.espeak.program import espeak_missing
from polyvox.text.phonemes.espeak.watchdog import WATCHDOG

_PACKAGE: Final = "espeakng_loader"
_NAMES: Final = {"darwin": "libespeak-ng.dylib", "win32": "espeak-ng.dll"}
_WORKER: Final = Path(__file__).with_name("worker.py")
_TIMEOUT_SECONDS: Final = 10.0
_MAX_LINE_BYTES: Final = 1 << 20
_MAX_IDLE: Final = 2


def find_library() -> Path | None:
    """The library of the installed package `espeakng-loader`; its data lie beside it. The package is not imported."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    library = Path(spec.origin).with_name(_NAMES.get(sys.platform, "libespeak-ng.so"))
    return library if library.is_file() else None


class EspeakLibrary:
    """espeak-ng with one voice; `tie` is written between the letters of one sound. Safe to share between threads.

    The library has one state for all threads and may crash on odd text: each worker process answers one caller at a
    time, and one that fails is replaced. Workers that nobody needs wait for the next caller.
    """

    def __init__(self, library: Path, voice: str, language: str, *, tie: str = "") -> None:
        self._library = library
        self._language = language
        self._arguments = [sys.executable, "-I", "-S", str(_WORKER), str(library), voice, tie]
        self._idle: list[subprocess.Popen[bytes]] = []
        self._lock = Lock()
        weakref.finalize(self, _end_all, self._idle)

    def phonemize(self, lines: Sequence[str]) -> list[str]:
        """One line of phonemes for each line of text."""
        if not lines:
            return []
        with self._worker() as worker:
            return [answer for batch in batches(lines) for answer in _ask(worker, batch)]

    @contextmanager
    def _worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """A worker for one caller. It is kept for the next unless it failed or there are enough."""
        worker = self._take_idle() or self._start()
        try:
            yield worker
        except BaseException:
            end_blocking_child(worker)
            raise
        with self._lock:
            if kept := len(self._idle) < _MAX_IDLE:
                self._idle.append(worker)
        if not kept:
            end_blocking_child(worker)

    def _take_idle(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        if worker is not None and worker.poll() is not None:  # ended while it waited, such as for want of memory
            end_blocking_child(worker)
            return None
        return worker

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            return start_blocking_child(self._arguments, self._library.parent)
        except OSError as error:
            raise NotServedError(espeak_missing(self._language, "espeak-ng"), field="language") from error


def _ask(worker: subprocess.Popen[bytes], lines: Sequence[str]) -> list[str]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    with WATCHDOG.limit(_TIMEOUT_SECONDS, worker.kill):
        with suppress(BrokenPipeError):  # it may have ended; the missing answer tells
            worker.stdin.write(encoded(lines))
            worker.stdin.flush()
        answers = [worker.stdout.readline(_MAX_LINE_BYTES) for _ in lines]
    if not all(answer.endswith(b"\n") for answer in answers):
        raise EngineError("espeak-ng failed on a text, or took too long.")
    return [answered(answer) for answer in answers]


def _end_all(workers: list[subprocess.Popen[bytes]]) -> None:
    while workers:
        end_blocking_child(workers.pop())
