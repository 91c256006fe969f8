"""Types of fields that bodies share, and the base of all bodies."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from polyvox.types import NARROW_SPEED_RANGE, SPEED_RANGE

PRINTABLE = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069]*$"
"""Pattern of names in queries: no control characters, line ends or marks that turn the direction of text."""

_DECIMAL = re.compile(r"\s*[+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})\s*", re.ASCII)
_WHOLE = re.compile(r"\s*[+-]?\d{1,19}\s*", re.ASCII)
_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


def _number(value: object) -> object:
    """A number that was written as text, as clients of Kokoro-FastAPI do."""
    return float(value) if isinstance(value, str) and _DECIMAL.fullmatch(value) else value


def _integer(value: object) -> object:
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value


def _boolean(value: object) -> object:
    if isinstance(value, str):
        return _BOOLEANS.get(value.strip().lower(), value)
    return bool(value) if type(value) is int and value in (0, 1) else value


Number = Annotated[float, BeforeValidator(_number), Field(strict=True, allow_inf_nan=False)]
Integer = Annotated[int, BeforeValidator(_integer), Field(strict=True)]
Boolean = Annotated[bool, BeforeValidator(_boolean), Field(strict=True)]
Speed = Annotated[Number, Field(ge=SPEED_RANGE.lowest, le=SPEED_RANGE.highest)]
NarrowSpeed = Annotated[Number, Field(ge=NARROW_SPEED_RANGE.lowest, le=NARROW_SPEED_RANGE.highest)]

# Line ends, tabs and form feeds are white space; every other control character is a mistake somewhere upstream.
_UNSPEAKABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


def _check_characters(text: str) -> str:
    found = _UNSPEAKABLE.search(text)
    if found is None:
        return text
    raise PydanticCustomError(
        "control_character",
        "holds the control character U+{code} at position {position}",
        {"code": f"{ord(found[0]):04X}", "position": found.start()},
    )


Text = Annotated[str, AfterValidator(_check_characters)]
"""Text to speak, without control characters."""


class RequestBody(BaseModel):
    """Base of all bodies: unknown fields are ignored, and null means "not given"."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, body: object) -> object:
        return {name: value for name, value in body.items() if value is not None} if isinstance(body, dict) else body
