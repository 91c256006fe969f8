"""Errors in the form that ElevenLabs' clients read."""

from types import MappingProxyType
from typing import Any

from polyvox.api.dialects.elevenlabs.requests import FIELD_NAMES
from polyvox.api.refusals import Refusal
from polyvox.errors import PolyvoxError

_NOT_FOUND = "voice_not_found"
_INVALID_FIELD = "invalid_value"

_NAMES = MappingProxyType({"overloaded": "too_many_concurrent_requests", "client_stalled": "input_timeout_exceeded"})
"""Its names of errors that are called otherwise here."""

_MAX_REASON_BYTES = 123  # of a close frame, by RFC 6455
_POLICY_VIOLATION, _INTERNAL_ERROR, _TRY_AGAIN_LATER = 1008, 1011, 1013  # close codes


def detail(refusal: Refusal) -> tuple[int, dict[str, Any]]:
    """The wording of HTTP answers: under `detail` a status, a sentence, and the field at fault where there is one."""
    found = {"status": _NAMES.get(refusal.code, refusal.code), "message": refusal.message}
    if refusal.field is not None:
        found["param"] = FIELD_NAMES.get(refusal.field) or refusal.field
    return _status(refusal), {"detail": found}


def _status(refusal: Refusal) -> int:
    """Its clients know a voice that is not there by 404, and a field that is wrong by 422."""
    if refusal.code == _NOT_FOUND:
        return 404
    return 422 if refusal.code == _INVALID_FIELD and refusal.field is not None else refusal.status


def socket_error(error: PolyvoxError) -> dict[str, Any]:
    """A message on a WebSocket; `code` is the close code that belongs to the error."""
    refusal = Refusal.of(error)
    if refusal.code == "overloaded":
        code = _TRY_AGAIN_LATER
    else:
        code = _POLICY_VIOLATION if refusal.status < 500 else _INTERNAL_ERROR
    found = {"message": refusal.message, "error": _NAMES.get(refusal.code, refusal.code), "code": code}
    if refusal.field is not None:
        found["param"] = FIELD_NAMES.get(refusal.field) or refusal.field
    return found


def close_reason(message: str) -> str:
    """As much of a message as a close frame may carry; the SDK shows it where it was sending when the end came."""
    return message.encode()[:_MAX_REASON_BYTES].decode(errors="ignore")
