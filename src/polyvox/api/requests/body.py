"""Request bodies as strict JSON, parsed before any field is looked at."""

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import Scope

from polyvox.errors import InvalidRequestError

MAX_ITEMS = 10_000
"""Of any list in a body, and names of any object."""
_OFF_LOOP_LENGTH = 65_536
_MAX_INTEGER_DIGITS = 300
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")

Data = TypeVar("Data", bytes, str)
Result = TypeVar("Result")


class JsonRoute(APIRoute):
    """A route that takes a JSON body and nothing else.

    Asking for the content type also keeps web pages of other origins out: a browser sends `application/json` across
    origins only after CORS allowed it.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def handle_json(request: Request) -> Response:
            return await handle(await _parsed(request))

        return handle_json


def parse_json(data: bytes) -> object:
    """Parse a body; refuse what is broken, ambiguous or too deeply nested, with its position."""
    try:
        text = data.decode("utf-8-sig")
        parsed: object = json.loads(text, object_pairs_hook=_unique, parse_int=_integer)
        if _SURROGATE_ESCAPE.search(text):
            json.dumps(parsed, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"The body is not UTF-8: byte {error.start} is invalid.") from error
    except UnicodeEncodeError as error:
        raise InvalidRequestError("The body holds half of a character that takes two \\u escapes.") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidRequestError(f"The body is not JSON: {error.msg} at {place}.") from error
    except RecursionError as error:
        raise InvalidRequestError("The body is nested too deeply.") from error
    _check_lists(parsed)
    return parsed


def _check_lists(parsed: object) -> None:
    """Refuse long lists here, off the event loop: checking their items one by one is the event loop's work."""
    fields = parsed.items() if isinstance(parsed, dict) else ()
    for name, value in fields:
        if isinstance(value, list) and len(value) > MAX_ITEMS:
            shown = name[:80].encode(errors="replace").decode()
            raise InvalidRequestError(f"'{shown}' has {len(value)} items; send {MAX_ITEMS} at most.", field=shown)


class _ParsedRequest(Request):
    """A request whose body has been read and parsed."""

    def __init__(self, scope: Scope, data: bytes, parsed: object) -> None:
        super().__init__(scope)
        self._data = data
        self._parsed = parsed

    async def body(self) -> bytes:
        return self._data

    async def json(self) -> object:
        return self._parsed


async def _parsed(request: Request) -> _ParsedRequest:
    if not is_json(request):
        raise InvalidRequestError("Send a JSON body with the header 'Content-Type: application/json'.")
    data = await request.body()
    return _ParsedRequest(request.scope, data, await off_the_loop(data, parse_json))


async def off_the_loop(data: Data, work: Callable[[Data], Result]) -> Result:
    """Run work on request data; on a thread if the data is so large that the event loop would stall."""
    return work(data) if len(data) <= _OFF_LOOP_LENGTH else await asyncio.to_thread(work, data)


def is_json(request: Request) -> bool:
    """Return whether the content type of a request is JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MAX_ITEMS:
        raise InvalidRequestError(f"An object in the body has {len(pairs)} names; send {MAX_ITEMS} at most.")
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            shown = name[:80].encode(errors="replace").decode()
            raise InvalidRequestError(f"'{shown}' is given more than once.", field=shown)
        found[name] = value
    return found


def _integer(digits: str) -> float:
    """An integer; one too long for any field becomes infinite, so that the field's own check names it."""
    return int(digits) if len(digits) <= _MAX_INTEGER_DIGITS else float("inf")
