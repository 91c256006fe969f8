"""Whom a fitted voice is to sound like."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whom to sound like: an embedding of unit length, and the pitch to plan with, if it is known, as a logarithm."""

    embedding: Tensor
    log_pitch: float | None
