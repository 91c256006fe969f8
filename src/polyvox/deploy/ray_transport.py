"""The transport to an engine's replicas over Ray Serve."""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

import grpc
from ray.exceptions import RayActorError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError, RequestCancelledError
from ray.serve.handle import DeploymentHandle

from polyvox.deploy.remote_engine import ReplicaLostError
from polyvox.errors import OverloadedError, UnavailableError

_RECENT_DURATIONS = 64
_MIN_RETRY_SECONDS = 1.0
_SILENCE_SECONDS = 1.0
"""After so long without an answer, and as long again each time, the replicas are asked whether they live."""
_ALIVE_SECONDS = 2.0
_RESTART_SECONDS = 20.0
"""Guess at how long a model takes to be replaced, until that was measured."""
_OVERDUE_SECONDS = 3
"""The time after which one that takes longer than that is asked for again."""
_END = object()


class RayTransport:
    """Implements `Transport` with a Ray Serve deployment handle.

    Every call is made in an empty context: Serve would otherwise cancel it with the request that made it, though others
    may wait for the same answer.

    Serve keeps a call until there is a replica for it. Where none is left, the caller is told how long the last
    replacement took instead.
    """

    def __init__(self, model: str, handle: DeploymentHandle[Any]) -> None:
        self._model = model
        self._handle = handle
        self._durations: deque[float] = deque(maxlen=_RECENT_DURATIONS)
        self._probe: asyncio.Task[bool] | None = None
        self._down_since: float | None = None
        self._restart_seconds = _RESTART_SECONDS

    async def ask(self, method: str, *arguments: object, voice: str = "") -> object:
        with self._typed_errors():
            return await self._answered(self._call(method, arguments, voice, stream=False))

    async def ask_when_started(self, method: str) -> object:
        """Call one replica for one result, however long the first of them takes to start."""
        with self._typed_errors():
            return await self._call(method, (), "", stream=False)

    async def stream(self, method: str, *arguments: object, voice: str = "") -> AsyncGenerator[object, None]:
        began = time.monotonic()
        with self._typed_errors():
            response = self._call(method, arguments, voice, stream=True)
            try:
                items = aiter(response)
                item = await self._answered(anext(items, _END))
                while item is not _END:
                    yield item
                    item = await anext(items, _END)
            except BaseException:
                response.cancel()
                raise
        self._durations.append(time.monotonic() - began)

    def _call(self, method: str, arguments: tuple[object, ...], voice: str, *, stream: bool) -> Any:  # noqa: ANN401
        handle = self._handle.options(method_name=method, multiplexed_model_id=voice, stream=stream)
        call: Callable[..., Any] = handle.remote
        return Context().run(call, *arguments)

    async def _answered(self, answer: Awaitable[object]) -> object:
        """Wait for an answer for as long as there is a replica that may give it."""
        waiting = asyncio.ensure_future(answer)
        try:
            while not (await asyncio.wait((waiting,), timeout=_SILENCE_SECONDS))[0]:
                if not await self._lives():
                    raise self._restarting()
        finally:
            waiting.add_done_callback(_ignore)
            waiting.cancel()
        result = waiting.result()
        if self._down_since is not None:
            self._restart_seconds, self._down_since = time.monotonic() - self._down_since, None
        return result

    async def _lives(self) -> bool:
        """Ask all replicas, once for all who wait."""
        if self._probe is None or self._probe.done():
            self._probe = asyncio.create_task(self._any_replica())
        return await asyncio.shield(self._probe)

    async def _any_replica(self) -> bool:
        """False where there is none, or none that can be reached; a slow one is Serve's to judge."""
        asked = self._handle.broadcast("status")
        try:
            answers = await asked.results_async(timeout_s=_ALIVE_SECONDS, return_exceptions=True)
        except DeploymentUnavailableError:
            return False
        except TimeoutError:
            return True
        return not all(isinstance(answer, BaseException) for answer in answers)

    def _restarting(self) -> UnavailableError:
        now = time.monotonic()
        if self._down_since is None:
            self._down_since = now - _SILENCE_SECONDS
        left = max(_OVERDUE_SECONDS, math.ceil(self._restart_seconds - (now - self._down_since)))
        return UnavailableError(
            f"The processes of the model {self._model!r} have ended and are started again; try again in {left} s.",
            retry=True,
            retry_after=left,
        )

    @contextmanager
    def _typed_errors(self) -> Iterator[None]:
        try:
            yield
        except BackPressureError as error:
            mean = sum(self._durations) / len(self._durations) if self._durations else 0.0
            seconds = max(_MIN_RETRY_SECONDS, mean)
            raise OverloadedError(
                f"The queue of the model {self._model!r} is full; try again in {seconds:.0f} s.", retry_after=seconds
            ) from error
        except DeploymentUnavailableError as error:
            raise UnavailableError(
                f"The model {self._model!r} could not be deployed; run `serve status` for the cause."
            ) from error
        except (RayActorError, grpc.aio.AioRpcError, RequestCancelledError) as error:
            raise ReplicaLostError from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise ReplicaLostError from error  # a replica that shuts down cancels its calls


def _ignore(answer: asyncio.Future[object]) -> None:
    """Look at the error of an answer that nobody waits for, so that asyncio does not report it."""
    if not answer.cancelled():
        answer.exception()
