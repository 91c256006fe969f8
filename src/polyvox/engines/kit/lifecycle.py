"""An engine between its start and its close."""

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from polyvox.errors import EngineError
from polyvox.runtime.stage import BatchReport, Observer
from polyvox.types import EngineLocation

if TYPE_CHECKING:
    from polyvox.runtime.lm_scheduler import LmReport


class Running(Protocol):
    """The parts of an engine that exist between its start and its close."""

    async def close(self) -> None:
        """End their work and their threads."""


R = TypeVar("R", bound=Running)


class Lifecycle(Generic[R]):
    """Base of an engine: `start` sets `_running`, and all that it reports of itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.location = EngineLocation()
        self.warning = ""
        """The part that does not run as the settings ask: no GPU, or no captured CUDA graphs."""
        self._observer: Observer | None = None
        self._running: R | None = None

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    async def close(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            await running.close()

    def _started(self) -> R:
        if self._running is None:
            raise EngineError(f"The engine {self.name!r} is not running.")
        return self._running

    def _report(self, report: "LmReport") -> None:
        """Report a language model's step as two batches: prefilled positions, and what it generated."""
        if self._observer is None:
            return
        if report.prompt_tokens:
            self._observer(BatchReport(f"{self.name} prefill", report.prompt_tokens, 0.0, report.prefill_seconds))
        generated, seconds = report.generated_tokens, report.decode_seconds
        self._observer(BatchReport(f"{self.name} decode", generated, 0.0, seconds, report.running, report.slots))
