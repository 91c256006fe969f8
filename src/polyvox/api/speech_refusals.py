"""Refusals of requests for speech that never reach the service, counted like those that it makes itself."""

from collections.abc import Iterable, Mapping

from starlette.types import Scope

from polyvox.api.paths import PathTable
from polyvox.errors import PolyvoxError
from polyvox.service.keys.operations import Operation
from polyvox.service.telemetry.metrics import UNKNOWN_MODEL, Metrics


class SpeechRefusals:
    """Counts requests on paths for speech that were refused before the service saw them, as for want of a text.

    `operations` are those of each door's routes, by the door's name.
    """

    def __init__(self, operations: Iterable[tuple[str, Mapping[str, Operation]]], metrics: Metrics) -> None:
        speaking = (
            (row, name if operation is Operation.SPEAK else "")
            for name, rows in operations
            for row, operation in rows.items()
        )
        self._doors: PathTable[str] = PathTable(speaking, default="")
        self._metrics = metrics

    def count(self, error: PolyvoxError, scope: Scope) -> None:
        """Count a refusal, unless the service has done so or the route is for something else."""
        if error.counted or scope["type"] != "http":
            return
        if door := self._doors[f"{scope['method']} {scope['path']}"]:
            self._metrics.requested(door, UNKNOWN_MODEL)
            self._metrics.failed(error)
