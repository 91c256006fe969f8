"""A refusal as each dialect words it: OpenAI's error object, or what the clients of other servers parse."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from polyvox.errors import PolyvoxError, status_of

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status and a sentence; `type`, `code` and `field` are in OpenAI's words."""

    status: int
    message: str
    type: str
    code: str
    field: str | None = None

    @classmethod
    def of(cls, error: PolyvoxError) -> "Refusal":
        row = status_of(error)
        return cls(row.http, error.message, row.type, row.code, error.field)


def worded(refusal: Refusal, path: str) -> tuple[int, Body]:
    """The status and the body for a request to this path."""
    wording = _EXACT.get(path) or next(
        (wording for prefix, wording in _UNDER.items() if path.startswith(prefix)), _openai
    )
    return wording(refusal)


def _openai(refusal: Refusal) -> tuple[int, Body]:
    error = {"message": refusal.message, "type": refusal.type, "param": refusal.field, "code": refusal.code}
    return refusal.status, {"error": error}


def _detail(refusal: Refusal) -> tuple[int, Body]:
    """Clients of these servers know few codes: what is not allowed or taken is a bad request to them."""
    return (400 if refusal.status in (403, 409) else refusal.status), {"detail": refusal.message}


def _detail_or_error(refusal: Refusal) -> tuple[int, Body]:
    """The server with these paths called it `error` first, and `detail` later."""
    status, body = _detail(refusal)
    return status, body | {"error": refusal.message}


def _fastapi(refusal: Refusal) -> tuple[int, Body]:
    """As FastAPI words it: a field that is missing or wrong is 422 and has its place."""
    if refusal.code != "invalid_value" or refusal.field is None:
        return refusal.status, {"detail": refusal.message}
    problem = {"type": "value_error", "loc": ["body", refusal.field], "msg": refusal.message}
    return 422, {"detail": [problem]}


def _status_as_code(refusal: Refusal) -> tuple[int, Body]:
    return refusal.status, {"error": refusal.message, "code": refusal.status}


_Wording = Callable[[Refusal], tuple[int, Body]]

_UNDER: Mapping[str, _Wording] = MappingProxyType(
    {
        "/v1/zipvoice/": _detail,
        "/inference_": _fastapi,
        "/v1/model/cosyvoice": _detail_or_error,
    }
)
_EXACT: Mapping[str, _Wording] = MappingProxyType(
    {
        **dict.fromkeys(("/tts", "/zero_shot_tts", "/cross_lingual_tts", "/instruct_tts", "/config"), _detail),
        **dict.fromkeys(("/synthesize", "/speakers"), _status_as_code),
    }
)
