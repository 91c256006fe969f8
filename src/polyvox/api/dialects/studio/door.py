"""The Studio: a page to speak, listen and make voices in, at `/web`, and at `/` for browsers.

It calls the public paths of this server and nothing else: the Content-Security-Policy allows no other host, no script
but the page's own, and no style but its own and those that carry the response's nonce. Only pages of its own origin may
frame it: behind Home Assistant's ingress that is Home Assistant.
"""

import secrets
from typing import Annotated

from fastapi import APIRouter, Header, Response
from starlette.responses import HTMLResponse, RedirectResponse

from polyvox.api.dialects.studio import device
from polyvox.api.dialects.studio.files import ASSET_HEADERS, assets, page_html, takes_gzip
from polyvox.api.door import Door
from polyvox.api.paths import SharedPaths
from polyvox.errors import NotFoundError
from polyvox.service.keys.operations import Operation

router = APIRouter(include_in_schema=False)

_BROWSERS = "/web/index"
"""The path at which a browser's request of `/` is answered."""
_NONCE = "__NONCE__"
_HEADERS = {
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept",
    "X-Content-Type-Options": "nosniff",
}


def _policy(nonce: str) -> str:
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self'; connect-src 'self'; "
        "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


@router.api_route("/web", methods=["GET", "HEAD"])
@router.api_route(f"{_BROWSERS}/", methods=["GET", "HEAD"])
async def page() -> HTMLResponse:
    """The page; its style nonce is new in every response."""
    nonce = secrets.token_urlsafe(16)
    headers = _HEADERS | {"Content-Security-Policy": _policy(nonce)}
    return HTMLResponse(page_html().replace(_NONCE, nonce), headers=headers)


@router.api_route("/web/", methods=["GET", "HEAD"])
async def moved() -> RedirectResponse:
    """The page's address without the slash, from which its relative names lead to its files."""
    return RedirectResponse("../web", status_code=308)


@router.api_route("/web/assets/{name}", methods=["GET", "HEAD"])
async def asset(name: str, accept_encoding: Annotated[str, Header()] = "") -> Response:
    """A file of the page; its name changes with its content, so that browsers keep it."""
    found = assets().get(name)
    if found is None:
        raise NotFoundError("The page has no such file; reload the page.")
    if takes_gzip(accept_encoding):
        headers = ASSET_HEADERS | {"Content-Encoding": "gzip"}
        return Response(found.compressed, media_type=found.media_type, headers=headers)
    return Response(found.data, media_type=found.media_type, headers=ASSET_HEADERS)


router.routes.extend(device.router.routes)

DOOR = Door(
    "studio",
    router,
    is_open=lambda settings: settings.studio,
    public=["/web*"],
    shared=SharedPaths("accept", ["/"], _BROWSERS, value="text/html"),
    operations={
        "GET /web*": Operation.PROBE,
    },
)
