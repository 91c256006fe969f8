"""The parts of a server that its processes make their services of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.service.registry.model_loader import Absence
from polyvox.service.registry.registry import Outline


@dataclass(frozen=True, slots=True)
class ServerParts:
    """The models of a server: how they are made, why those that are absent are so, and what is known without a load."""

    engines: Mapping[str, Callable[[Settings], Engine]]
    absence: Absence | None = None
    outline: Outline | None = None
