"""Tuning parameters of a request that only one family of models has, typed and bounded."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from polyvox.errors import InvalidRequestError


class Tuning(BaseModel):
    """Base of a family's tuning parameters: a field for each, None where the model's own default holds.

    A request may carry parameters of other families; they are passed over.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Check a request's parameters; `InvalidRequestError` names the one at fault and its bounds."""
        try:
            return cls.model_validate(dict(parameters))
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            raise InvalidRequestError(cls._complaint(name, parameters[name], first["msg"]), field=name) from error

    @classmethod
    def _complaint(cls, name: str, value: object, message: str) -> str:
        low, high = cls.bounds(name)
        shown = f"{value:g}" if isinstance(value, int | float) else repr(value)
        if low is None or high is None or "integer" in message:
            wish = "must be a whole number" if "integer" in message else f"is not acceptable ({message})"
            return f"{name} {wish}, not {shown}."
        return f"{name} must lie between {low:g} and {high:g}, not {shown}."

    @classmethod
    def bounds(cls, name: str) -> tuple[float | None, float | None]:
        """The least and the greatest value of a parameter, where its field declares them."""
        marks = cls.model_fields[name].metadata
        low = next((mark.ge for mark in marks if hasattr(mark, "ge")), None)
        high = next((mark.le for mark in marks if hasattr(mark, "le")), None)
        return low, high
