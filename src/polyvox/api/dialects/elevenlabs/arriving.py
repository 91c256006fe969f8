"""Messages of a client while they arrive, and the texts in them."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from pydantic import TypeAdapter, ValidationError

from polyvox.api.requests.fields import Text
from polyvox.errors import InvalidRequestError

_TEXT = TypeAdapter[str](Text)


async def until_idle(
    messages: AsyncGenerator[dict[str, Any]], seconds: float, is_busy: Callable[[], bool]
) -> AsyncGenerator[dict[str, Any]]:
    """The messages until the client leaves, or sends none for so long while nothing is going on."""
    coming: asyncio.Future[dict[str, Any] | None] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(messages, None))
            arrived, _ = await asyncio.wait({coming}, timeout=seconds)
            if not arrived and is_busy():
                continue
            if not arrived or (message := coming.result()) is None:
                return
            coming = None
            yield message
            await asyncio.sleep(0)  # messages that came in one packet must not keep others from their turn
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.wait({coming})


def text_of(value: object) -> str:
    """The text of a message, empty where there is none; half of a surrogate pair stays, since the other may follow."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidRequestError("'text' must be a string.", field="text")
    try:
        _TEXT.validate_python(value.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except ValidationError as error:
        raise InvalidRequestError(f"'text' {error.errors()[0]['msg']}.", field="text") from error
    return value
