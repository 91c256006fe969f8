"""The body of an error, in OpenAI's shape, and the errors that several doors describe."""

from typing import Any

from pydantic import BaseModel


class ErrorDetail(BaseModel):
    """The error in one sentence, and the field of the request at fault."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorBody(BaseModel):
    """The body of every error response."""

    error: ErrorDetail


REGISTRATION_ERRORS: dict[int | str, dict[str, Any]] = {
    409: {"description": "You have a voice of this name already, or a built-in one has it."},
    501: {"description": "A model that this needs is not installed; the message names the remedy."},
    503: {"description": "The server is busy with other recordings, or stops; try again."},
}
"""Refusals of every operation that registers a voice, beside those of all operations; the body is the door's."""
