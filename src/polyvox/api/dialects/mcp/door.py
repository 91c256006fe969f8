"""The door for agents: `/mcp`, where the setting `mcp` opens it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.dependencies import Service
from polyvox.api.dialects.mcp.package import check_installed
from polyvox.api.dialects.mcp.service_backend import DOOR_NAME
from polyvox.api.door import Door
from polyvox.api.middleware.origins import check_origin
from polyvox.api.refusals import Refusal
from polyvox.errors import NotFoundError
from polyvox.service.keys.operations import Operation

_INVALID_REQUEST, _INTERNAL_ERROR = -32_600, -32_603  # of JSON-RPC
_SERVER_ERROR = 500


router = APIRouter()


@router.api_route("/mcp", methods=["GET", "POST", "DELETE"], include_in_schema=False)
async def speak_mcp(request: Request, service: Service) -> Response:
    """Messages of MCP, which the protocol's own library answers."""
    if not service.settings.mcp:
        raise NotFoundError("This server does not speak MCP; its operator turns that on with POLYVOX_MCP=true.")
    check_origin(request.headers, service.settings.cors_origins)
    return _McpResponse(request.app.state.mcp)


class _McpResponse(Response):
    """An answer that an ASGI application writes."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    if not app.state.service.settings.mcp:
        yield
        return
    check_installed()
    from polyvox.api.dialects.mcp.http import McpHttp

    app.state.mcp = McpHttp(app.state.service, app.state.voices)
    async with app.state.mcp.running():
        yield


def _json_rpc_error(refusal: Refusal) -> tuple[int, dict[str, Any]]:
    code = _INVALID_REQUEST if refusal.status < _SERVER_ERROR else _INTERNAL_ERROR
    error = {"code": code, "message": refusal.message, "data": {"code": refusal.code}}
    return refusal.status, {"jsonrpc": "2.0", "id": None, "error": error}


DOOR = Door(
    DOOR_NAME,
    router,
    wordings={"/mcp": _json_rpc_error},
    headers=("Mcp-Session-Id",),
    lifespan=_lifespan,
    operations={
        "POST /mcp": Operation.USE_TOOLS,
        "GET /mcp": Operation.USE_TOOLS,
        "DELETE /mcp": Operation.USE_TOOLS,
    },
)
