"""Speech on the listener's own device: the browser package and its model, as the Studio loads them.

The page's policy compiles no WebAssembly. The worker, which does, has a policy of its own.
"""

import asyncio
import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from polyvox.api.dependencies import Service
from polyvox.api.dialects.polyvox.pulls import may_pull
from polyvox.api.dialects.studio.files import ASSET_HEADERS, takes_gzip
from polyvox.api.responses.cached_answers import has_tag
from polyvox.api.responses.ranged_file import RangedFile
from polyvox.bundles.browser_bundle import MANIFEST
from polyvox.errors import NotFoundError
from polyvox.service.registry.browser_export import BrowserExport

router = APIRouter(prefix="/web/device", include_in_schema=False)

WORKER_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
_WORKER = "worker.js"
_MEDIA_TYPES = {".js": "text/javascript; charset=utf-8", ".wasm": "application/wasm"}
_CHECKED_HEADERS = {"Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff"}


@dataclass(frozen=True, slots=True)
class _Package:
    """The built browser package: its files, compressed, and a name that changes with them."""

    build: str
    files: dict[str, bytes]


@cache
def _package() -> _Package:
    hashed, packed = hashlib.sha256(), {}
    for file in sorted(files(__package__).joinpath("device").iterdir(), key=lambda each: each.name):
        if file.name.endswith((".js", ".wasm.gz")):
            data = file.read_bytes()
            hashed.update(f"{file.name}\0".encode() + data)
            packed[file.name.removesuffix(".gz")] = data if file.name.endswith(".gz") else gzip.compress(data, mtime=0)
    return _Package(hashed.hexdigest()[:16], packed)


async def _export_of(request: Request) -> BrowserExport:
    export = request.app.state.browser_export
    assert isinstance(export, BrowserExport)
    return export


Export = Annotated[BrowserExport, Depends(_export_of)]


@router.get("")
async def describe(service: Service, export: Export) -> dict[str, Any]:
    """The addresses of the package's module and of the model's folder.

    Where requests may have models fetched, the folder is made when it is first asked for; else an error says how.
    """
    await export.bundle(make=may_pull(service.settings))
    package = await asyncio.to_thread(_package)
    return {"module": f"web/device/code/{package.build}/index.js", "model": "web/device/model"}


@router.get("/code/{build}/{name}")
async def code(build: str, name: str, accept_encoding: Annotated[str, Header()] = "") -> Response:
    """A file of the package. Its address changes with the package, so that browsers keep it."""
    package = await asyncio.to_thread(_package)
    compressed = package.files.get(name) if build == package.build else None
    if compressed is None:
        raise NotFoundError("The page has no such file; reload the page.")
    headers = ASSET_HEADERS | {"ETag": f'"{build}"'}
    if name == _WORKER:
        headers |= {"Content-Security-Policy": WORKER_POLICY}
    media_type = _MEDIA_TYPES["." + name.rpartition(".")[2]]
    if takes_gzip(accept_encoding):
        return Response(compressed, media_type=media_type, headers=headers | {"Content-Encoding": "gzip"})
    return Response(await asyncio.to_thread(gzip.decompress, compressed), media_type=media_type, headers=headers)


@router.get(f"/model/{MANIFEST}")
async def manifest(export: Export, request: Request) -> Response:
    """The list of the model's files, with which a browser checks them."""
    bundle = await export.bundle(make=False)
    etag = f'"{hashlib.sha256(bundle.manifest).hexdigest()}"'
    headers = _CHECKED_HEADERS | {"Cache-Control": "no-cache", "ETag": etag}
    if has_tag(request.headers.get("if-none-match", ""), etag):
        return Response(status_code=304, headers=headers)
    return Response(bundle.manifest, media_type="application/json", headers=headers)


@router.get("/model/{name:path}")
async def model_file(
    name: str, service: Service, export: Export, sha256: Annotated[str, Query(max_length=64)] = ""
) -> Response:
    """A file of the model, of those that its manifest names; kept for long where the address has its hash."""
    bundle = await export.bundle(make=False)
    digest = bundle.files.get(name)
    if digest is None:
        raise NotFoundError("The model has no such file; reload the page.")
    lasting = ASSET_HEADERS["Cache-Control"] if sha256 == digest.sha256 else "no-cache"
    return RangedFile(
        bundle.folder / name,
        media_type="application/octet-stream",
        digest=digest.sha256,
        stall_seconds=service.settings.stall_seconds,
        headers=_CHECKED_HEADERS | {"Cache-Control": lasting},
    )
