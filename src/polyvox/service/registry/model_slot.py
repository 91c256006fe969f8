"""The place of one model in a server: loaded, loading or not, and who uses it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from polyvox.engines.base import Engine
from polyvox.engines.spec import ModelOutline
from polyvox.service.registry.load_fault import LoadFault
from polyvox.types import Capabilities, Voice


@dataclass(slots=True)
class ModelSlot:
    """One model. `engine` is set while it is loaded and can speak.

    A `resident` model is one of the setting `models`: loaded at the start and not unloaded for being idle. `on_demand`
    is set where a request may load it now: from the start for the other models, and for a resident one that was
    started before.
    """

    name: str
    resident: bool
    on_demand: bool
    engine: Engine | None = None
    capabilities: Capabilities | None = None
    """As they were when it was last loaded."""
    voices: Sequence[Voice] | None = None
    """As they were when it was last loaded."""
    outline: ModelOutline | None = None
    fault: LoadFault | None = None
    uses: int = 0
    """Requests that speak with it or wait for it."""
    last_used: float = 0.0
    loading: asyncio.Task[None] | None = None
    load_began: float = 0.0
    last_load_seconds: float | None = None
    idle_timer: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> bool:
        """True if it is loaded and nobody uses it."""
        return self.engine is not None and not self.uses

    def enter(self) -> None:
        """Count a request in."""
        self.uses += 1
        self.stop_timer()

    def leave(self, now: float) -> None:
        """Count a request out."""
        self.uses -= 1
        self.last_used = now

    def stop_timer(self) -> None:
        """Forget that it was about to be unloaded."""
        if self.idle_timer is not None:
            self.idle_timer.cancel()
            self.idle_timer = None
