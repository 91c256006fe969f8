"""gRPC's reflection service, which tells anybody what can be called; its messages are received as all others are."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

from grpc_reflection.v1alpha import reflection

from polyvox.api.dialects.grpc.intake import MessageIntake
from polyvox.errors import PolyvoxError


class ReflectionServicer(reflection.aio.ReflectionServicer):  # type: ignore[misc]
    """Describes services by their names. A call lasts no longer than the time for one message between two of them."""

    def __init__(self, names: Iterable[str], pool: object, intake: MessageIntake) -> None:
        super().__init__(names, pool)
        self._intake = intake

    async def ServerReflectionInfo(self, request_iterator: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:  # noqa: ANN401, N802 - as gRPC declares it
        async for answer in super().ServerReflectionInfo(self._each(request_iterator), context):
            yield answer

    async def _each(self, messages: AsyncIterator[Any]) -> AsyncIterator[Any]:
        while True:
            try:
                yield await self._intake.first(messages)
            except PolyvoxError:  # the end, or too slow
                return
