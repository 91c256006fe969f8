"""Complaints of pydantic about a request, as a sentence for its caller."""

from collections.abc import Mapping, Sequence
from typing import Any

from polyvox.errors import InvalidRequestError


def invalid_request(problems: Sequence[Mapping[str, Any]]) -> InvalidRequestError:
    """The first of pydantic's complaints as one sentence that names the field."""
    first = problems[0]
    place, *path = first["loc"]
    field = _field(path) or None
    if field is None:
        wanted = "a JSON object" if first["type"].startswith("model") else _lower_first(first["msg"])
        return InvalidRequestError(f"The {place} must be {wanted}.")
    if first["type"] == "missing":
        return InvalidRequestError(f"'{field}' is required.", field=field)
    complaint = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return InvalidRequestError(f"'{field}' {_lower_first(complaint)}.", field=field)


def _field(path: Sequence[str | int]) -> str:
    """The place in a body, as in `turns[3].voice`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
