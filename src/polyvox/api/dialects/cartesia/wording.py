"""Errors in Cartesia's words, for HTTP answers and for events."""

from http import HTTPStatus
from typing import Any

from polyvox.api.refusals import Refusal
from polyvox.errors import UnknownVoiceError, status_of

_NO_VOICE = status_of(UnknownVoiceError("")).code


def error_fields(refusal: Refusal) -> dict[str, Any]:
    """An error by Cartesia's names; a voice that does not exist is not found there, and no mistake in the request."""
    status = HTTPStatus.NOT_FOUND.value if refusal.code == _NO_VOICE else refusal.status
    title = refusal.code.replace("_", " ").capitalize()
    return {"title": title, "message": refusal.message, "error_code": refusal.code, "status_code": status}


def error_body(refusal: Refusal) -> tuple[int, dict[str, Any]]:
    """The status and the body of an HTTP answer."""
    fields = error_fields(refusal)
    return fields["status_code"], fields
