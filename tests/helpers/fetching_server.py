"""A server for the trials that fetches recordings in a web of its own: `program` of one.

Names lead where `NAMES` says, and every connection that it would make is written to the file `REACHED` in the
environment; it makes none. At `/to?URL` of a public host, a page redirects to the URL.
"""

import itertools
import json
import os
import ssl
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch
from urllib.parse import unquote

import httpx

from helpers.quick_server import QuickEngine
from polyvox.installation import load_settings
from polyvox.server.process import run_server
from polyvox.service.voices import voices
from polyvox.voices.recording.fetch import Fetcher

PROGRAM = "helpers.fetching_server"
REACHED = "POLYVOX_TRIAL_REACHED"
PUBLIC = "93.184.215.14"
NAMES: dict[str, Sequence[str]] = {
    "public.example": [PUBLIC],
    "loopback.example": ["127.0.0.1"],
    "loopback6.example": ["::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "nat64.example": ["64:ff9b::7f00:1"],
    "private.example": ["10.1.2.3"],
    "metadata.example": ["169.254.169.254"],
    "mixed.example": [PUBLIC, "192.168.0.1"],
    "nothing.example": [],
}
REBOUND = "rebound.example"
"""A name that leads to a public address at every other time it is asked for, and to loopback otherwise."""


class _Resolver:
    def __init__(self) -> None:
        self._turns = itertools.cycle(([PUBLIC], ["127.0.0.1"]))

    async def __call__(self, name: str) -> Sequence[str]:
        if name == REBOUND:
            return next(self._turns)
        if name not in NAMES:
            raise OSError("no such name")
        return NAMES[name]


class _Recorder(httpx.AsyncBaseTransport):
    def __init__(self, tls: ssl.SSLContext) -> None:
        self._file = Path(os.environ[REACHED])

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        with self._file.open("a", encoding="utf-8") as reached:
            reached.write(f"{request.url.host}\n")
        if request.url.path == "/to":
            return httpx.Response(302, headers=[(b"location", unquote(request.url.query.decode()).encode())])
        return httpx.Response(404)


if __name__ == "__main__":
    with patch.object(voices, "Fetcher", partial(Fetcher, resolve=_Resolver(), transport=_Recorder)):
        run_server(load_settings(models=["kokoro"], **json.loads(sys.argv[1])), {"kokoro": QuickEngine})
