"""The answer to a request that speaks nothing, made off the event loop; the work ends when the client leaves."""

from collections.abc import Awaitable, Callable, Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from polyvox.api.responses.client_writer import ended_or_left


class SideResponse(Response):
    """Sends the bytes that `work` returns, unless the client leaves first: then the work is cancelled."""

    def __init__(
        self,
        work: Callable[[], Awaitable[bytes]],
        media_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._work = work
        self._media_type = media_type
        self._more_headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        working = await ended_or_left(self._run(), receive)
        if not working.cancelled():
            answer = Response(working.result(), media_type=self._media_type, headers=self._more_headers)
            await answer(scope, receive, send)

    async def _run(self) -> bytes:
        return await self._work()
