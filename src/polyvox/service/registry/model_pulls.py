"""ModelPulls: models that a caller has the server fetch, one at a time, and how far that is."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import structlog

from polyvox.bundles.manifest import manifest_named
from polyvox.bundles.progress import Advance, Progress
from polyvox.bundles.pull import pull
from polyvox.config import Settings
from polyvox.errors import ConflictError, NotFoundError, PolyvoxError, UnknownModelError

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Pull = Callable[[str, Settings, Progress], object]
"""Fetches a model by its name, with what it needs. Blocks."""


class PullCancelledError(Exception):
    """Raised within a pull that nobody wants any more; the next one goes on where it was."""


@dataclass(frozen=True, slots=True)
class PullState:
    """A pull: `running`, `done`, `failed` or `cancelled`, the step that it is at, and the bytes of that step."""

    model: str
    status: str = "running"
    step: str = ""
    bytes_done: int = 0
    bytes_total: int = 0
    error: str | None = None

    def public(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "status": self.status,
            "step": self.step,
            "bytes_done": self.bytes_done,
            "bytes_total": self.bytes_total,
            "error": self.error,
        }


def pull_from_hub(name: str, settings: Settings, progress: Progress) -> None:
    """Fetch a model as `polyvox pull` does."""
    pull(name, models_dir=settings.models_dir, folder=None, hub_url=settings.hub_url, progress=progress)


class ModelPulls:
    """The pulls of one server. The last one stays to be seen until another begins."""

    def __init__(self, settings: Settings, fetch: Pull = pull_from_hub) -> None:
        self._settings = settings
        self._fetch = fetch
        self._progress: _PullProgress | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def state(self) -> PullState | None:
        return None if self._progress is None else self._progress.state

    def start(self, model: str) -> PullState:
        """Begin to fetch a model; ConflictError while another is fetched."""
        _check_known(model)
        if self._task is not None and not self._task.done():
            raise ConflictError("A model is being fetched already; wait until it is here, or cancel it.", field="model")
        progress = self._progress = _PullProgress(model)
        self._task = asyncio.create_task(self._run(progress), name=f"pull {model}")
        return progress.state

    async def cancel(self) -> PullState:
        """Stop the pull; what is fetched of it is kept for the next one."""
        if self._progress is None or self._task is None:
            raise NotFoundError("No model is being fetched.")
        self._progress.cancelled.set()
        await asyncio.wait([self._task])
        return self._progress.state

    async def close(self) -> None:
        """Stop what is under way."""
        if self._task is not None:
            await self.cancel()

    async def _run(self, progress: "_PullProgress") -> None:
        model = progress.state.model
        log.info("pull begun", model=model)
        try:
            await asyncio.to_thread(self._fetch, model, self._settings, progress)
            progress.state = replace(progress.state, status="done")
        except PullCancelledError:
            progress.state = replace(progress.state, status="cancelled")
        except PolyvoxError as error:
            progress.state = replace(progress.state, status="failed", error=error.message)
        except Exception:
            log.exception("pull failed", model=model)
            message = "The model could not be fetched; the cause is in the server's log."
            progress.state = replace(progress.state, status="failed", error=message)
        log.info("pull ended", model=model, status=progress.state.status, error=progress.state.error)


def _check_known(model: str) -> None:
    try:
        manifest_named(model)
    except UnknownModelError as error:
        message = f"There is no model {model[:80]!r} to fetch; `polyvox models` lists those that there are."
        raise UnknownModelError(message, field="model") from error


class _PullProgress:
    """Takes note of a pull, in the thread that fetches, and stops it there once it is cancelled."""

    def __init__(self, model: str) -> None:
        self.state = PullState(model)
        self.cancelled = threading.Event()

    @contextmanager
    def task(self, label: str, total: int) -> Iterator[Advance]:
        self._check()
        self.state = replace(self.state, step=label, bytes_done=0, bytes_total=total)
        yield self._advance

    def _advance(self, count: int) -> None:
        self._check()
        self.state = replace(self.state, bytes_done=self.state.bytes_done + count)

    def _check(self) -> None:
        if self.cancelled.is_set():
            raise PullCancelledError
