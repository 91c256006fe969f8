"""Limits of the messages of gRPC calls that arrive at once: their number, and their time."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from polyvox.config import Settings
from polyvox.errors import InvalidRequestError, OverloadedError, StalledError
from polyvox.service.admission.pending_bodies import PendingBodies

_FEWEST = 4
_AT_ONCE_SECONDS = 0.2
_RETRY_SECONDS = 5.0

Received = TypeVar("Received")


def largest_grpc_message(settings: Settings) -> int:
    """The limit, in bytes, of a message, which may hold a recording."""
    return settings.max_body_bytes + settings.prompt_max_bytes


class MessageIntake:
    """Receives the first message of each call.

    gRPC tells nothing about a message before it is whole, and holds it until then. What has not arrived at once counts
    as one of the largest size: as many of those may be arriving as the memory for bodies has room for, and one more
    ends the call that has waited longest. So messages that are never finished keep nobody out.
    """

    def __init__(self, settings: Settings, bodies: PendingBodies) -> None:
        size = largest_grpc_message(settings)
        self._bodies = bodies
        self._most = max(_FEWEST, settings.max_pending_body_bytes // size)
        longest = settings.body_timeout_seconds + size / settings.body_min_rate
        self._seconds = min(longest, settings.deadline_seconds)
        self._arriving: dict[asyncio.Timeout, None] = {}

    async def first(self, messages: AsyncIterator[Received]) -> Received:
        """The first message of a call; a typed error where none comes, or not in time."""
        message = await self._next(messages)
        if message is None:
            raise InvalidRequestError("The call holds no message; send one.")
        return message

    async def all(self, messages: AsyncIterator[Received]) -> AsyncIterator[Received]:
        """Every message of a call; only the first has to arrive in time."""
        message = await self._next(messages)
        if message is None:
            return
        yield message
        async for later in messages:
            yield later

    async def _next(self, messages: AsyncIterator[Received]) -> Received | None:
        timeout = asyncio.timeout(self._seconds)
        late = asyncio.get_running_loop().call_later(_AT_ONCE_SECONDS, self._count, timeout)
        try:
            async with timeout:
                return await anext(messages, None)
        except TimeoutError as error:
            if timeout in self._arriving:
                self._bodies.count_refusal("slow")
                raise StalledError("The message did not arrive in time; send it faster.") from error
            self._bodies.count_refusal("total")
            raise OverloadedError(
                "The server is receiving too many large messages; try again in a moment.", retry_after=_RETRY_SECONDS
            ) from error
        finally:
            late.cancel()
            self._arriving.pop(timeout, None)

    def _count(self, timeout: asyncio.Timeout) -> None:
        if len(self._arriving) >= self._most:
            oldest = next(iter(self._arriving))
            del self._arriving[oldest]
            oldest.reschedule(asyncio.get_running_loop().time())
        self._arriving[timeout] = None
