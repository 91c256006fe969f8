"""Short names of voices in one request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class VoiceAlias:
    """A short name of a voice in one request, and the pace at which that voice speaks."""

    voice: str
    rate: float = 1.0


@dataclass(frozen=True, slots=True)
class VoiceAliases:
    """The aliases of a request. A name spelled alike goes before one that differs in case."""

    by_name: Mapping[str, VoiceAlias] = field(default_factory=lambda: MappingProxyType({}))

    def find(self, name: str) -> VoiceAlias | None:
        """The alias of a name; None where there is none."""
        exact = self.by_name.get(name.strip())
        if exact is not None:
            return exact
        folded = name.strip().casefold()
        return next((alias for known, alias in self.by_name.items() if known.casefold() == folded), None)
