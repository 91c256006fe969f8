"""Errors as events of the socket, which stays open."""

from typing import Any

from polyvox.errors import InvalidRequestError, PolyvoxError, status_of

NOT_SUPPORTED = "not_supported"
"""Code of what OpenAI's API can do and a speech server cannot."""


class EventError(InvalidRequestError):
    """A client event that cannot be obeyed, with a code of OpenAI's own."""

    def __init__(self, message: str, code: str, *, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.code = code


def error_details(error: PolyvoxError) -> dict[str, str | None]:
    """Type, code and message of an error."""
    status = status_of(error)
    code = error.code if isinstance(error, EventError) else status.code
    return {"type": status.type, "code": code, "message": error.message}


def error_fields(error: PolyvoxError, event_id: str | None) -> dict[str, Any]:
    """The content of the event `error`; `event_id` is that of the client's event at fault, where it has one."""
    return {"error": {**error_details(error), "param": error.field, "event_id": event_id}}
