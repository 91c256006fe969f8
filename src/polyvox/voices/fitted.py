"""A style that was fitted to a recording: a mix of built-in voices, and an offset from it."""

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyvox.errors import InvalidRequestError

STYLE_SIZE = 256
KEY = "fitted"
"""Its key in a record's report."""

_FARTHEST = 100.0


@dataclass(frozen=True, slots=True)
class FittedStyle:
    """The offset that is added to every row of the mix `base`, and the measured speaker similarity to the recording.

    `similarity` is that of held-out sentences, `base_similarity` that of the nearest built-in voice. `word_errors` is
    the recogniser's word error rate on them, where one was installed.
    """

    model: str
    base: str
    offset: npt.NDArray[np.float32]
    similarity: float
    base_similarity: float
    word_errors: float | None
    steps: int
    seed: int

    def as_report(self) -> dict[str, Any]:
        """The part of a record's report."""
        return {
            "model": self.model,
            "base": self.base,
            "similarity": round(self.similarity, 4),
            "base_similarity": round(self.base_similarity, 4),
            "word_errors": None if self.word_errors is None else round(self.word_errors, 4),
            "steps": self.steps,
            "seed": self.seed,
            "offset": base64.b64encode(self.offset.astype("<f4").tobytes()).decode(),
        }


def fitted_style(report: Mapping[str, Any]) -> FittedStyle | None:
    """The style in a record's report, if there is one; an invalid one is refused."""
    found = report.get(KEY)
    if found is None:
        return None
    try:
        word_errors = found["word_errors"]
        return FittedStyle(
            model=str(found["model"]),
            base=str(found["base"]),
            offset=_offset(found["offset"]),
            similarity=_figure(found["similarity"]),
            base_similarity=_figure(found["base_similarity"]),
            word_errors=None if word_errors is None else _figure(word_errors),
            steps=int(found["steps"]),
            seed=int(found["seed"]),
        )
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise InvalidRequestError("The voice's fitted style is damaged; fit it again.", field="voice") from error


def shown_report(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report for display, without the fitted style's offset and the name of a pack's file."""
    shown = dict(report)
    if isinstance(fitted := shown.get(KEY), Mapping):
        shown[KEY] = {name: value for name, value in fitted.items() if name != "offset"}
    if isinstance(pack := shown.get("pack"), Mapping):
        shown["pack"] = {name: value for name, value in pack.items() if name != "file"}
    return shown


def _offset(text: str) -> npt.NDArray[np.float32]:
    offset = np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
    if offset.shape != (STYLE_SIZE,) or not np.isfinite(offset).all() or np.abs(offset).max() > _FARTHEST:
        raise ValueError("no style")
    return offset


def _figure(value: object) -> float:
    figure = float(value)  # type: ignore[arg-type]
    if not math.isfinite(figure):
        raise ValueError("no figure")
    return figure
