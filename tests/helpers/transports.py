"""A transport to replicas in this process that pickles everything, as between processes."""

import pickle
from collections.abc import AsyncGenerator
from typing import Any

from helpers.fakes import tone_settings, tone_spec
from polyvox.config import Settings
from polyvox.deploy.remote_engine import RemoteEngine, ReplicaLostError, remote_engine
from polyvox.deploy.replica import EngineReplica
from polyvox.engines.base import Engine


class PickledTransport:
    """Implements `Transport`. The first `losses` calls lose their replica, streams after `after` items.

    `calls` holds the method, the unpickled arguments and the voice of every call.
    """

    def __init__(self, replica: EngineReplica, *, losses: int = 0, after: int = 0) -> None:
        self._replica = replica
        self._losses = losses
        self._after = after
        self.calls: list[tuple[str, tuple[Any, ...], str]] = []

    async def ask(self, method: str, *arguments: object, voice: str = "") -> object:
        arrived = self._sent(method, arguments, voice)
        if self._lost():
            raise ReplicaLostError
        return _pickled(await getattr(self._replica, method)(*arrived))

    async def stream(self, method: str, *arguments: object, voice: str = "") -> AsyncGenerator[object, None]:
        items = getattr(self._replica, method)(*self._sent(method, arguments, voice))
        left = self._after if self._lost() else None
        try:
            async for item in items:
                if left == 0:
                    raise ReplicaLostError
                yield _pickled(item)
                left = None if left is None else left - 1
        finally:
            await items.aclose()

    def _sent(self, method: str, arguments: tuple[object, ...], voice: str) -> tuple[Any, ...]:
        arrived: tuple[Any, ...] = _pickled(arguments)
        self.calls.append((method, arrived, voice))
        return arrived

    def _lost(self) -> bool:
        self._losses -= 1
        return self._losses >= 0


def _pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


async def replica_of(engine: Engine, settings: Settings | None = None, **options: Any) -> EngineReplica:
    """A replica that has started."""
    replica = EngineReplica(
        engine.name, settings or tone_settings(), tone_spec(lambda _: engine, engine.name), **options
    )
    await replica.start()
    return replica


async def remote(engine: Engine, **losses: int) -> tuple[RemoteEngine, PickledTransport]:
    """A remote engine, and its transport."""
    replica = await replica_of(engine)
    transport = PickledTransport(replica, **losses)
    made = remote_engine(await replica.describe(), transport)
    await made.start()
    return made, transport
