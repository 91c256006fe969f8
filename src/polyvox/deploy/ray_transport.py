"""The transport to an engine's replicas over Ray Serve."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
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


class RayTransport:
    """Implements `Transport` with a Ray Serve deployment handle.

    Every call is made in an empty context: Serve would otherwise cancel it with the request that made it, though others
    may wait for the same answer.
    """

    def __init__(self, model: str, handle: DeploymentHandle[Any]) -> None:
        self._model = model
        self._handle = handle
        self._durations: deque[float] = deque(maxlen=_RECENT_DURATIONS)

    async def ask(self, method: str, *arguments: object, voice: str = "") -> object:
        with self._typed_errors():
            return await self._call(method, arguments, voice, stream=False)

    async def stream(self, method: str, *arguments: object, voice: str = "") -> AsyncGenerator[object, None]:
        began = time.monotonic()
        with self._typed_errors():
            response = self._call(method, arguments, voice, stream=True)
            try:
                async for item in response:
                    yield item
            except BaseException:
                response.cancel()
                raise
        self._durations.append(time.monotonic() - began)

    def _call(self, method: str, arguments: tuple[object, ...], voice: str, *, stream: bool) -> Any:  # noqa: ANN401
        handle = self._handle.options(method_name=method, multiplexed_model_id=voice, stream=stream)
        call: Callable[..., Any] = handle.remote
        return Context().run(call, *arguments)

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
