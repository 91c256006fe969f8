"""Routes for speech whose refusals are counted from the first look at the request on."""

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

from polyvox.errors import PolyvoxError
from polyvox.service.telemetry.metrics import UNKNOWN_MODEL


class CountedRoute(APIRoute):
    """A route that counts a request as refused when it makes no response of it; the service counts all others."""

    door: ClassVar[str]

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_counted(request: Request) -> Response:
            try:
                return await handle(request)
            except PolyvoxError as error:
                metrics = request.app.state.service.metrics
                metrics.requested(self.door, UNKNOWN_MODEL)
                metrics.failed(error)
                raise

        return handle_counted
