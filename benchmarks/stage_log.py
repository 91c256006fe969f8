"""What the stages of an engine did while it was measured: batches, rows, waits, and the share of the time."""

from collections import defaultdict
from dataclasses import dataclass

from polyvox.runtime.stage import BatchReport


@dataclass(frozen=True, slots=True)
class StageFigures:
    """One stage: `busy` is the share of the time that one of its batches ran, above 1 where several ran at once."""

    stage: str
    batches: int
    rows_per_batch: float
    longest_wait: float
    run_seconds: float
    busy: float

    def __str__(self) -> str:
        return (
            f"{self.stage:>24}  {self.batches:>7}  {self.rows_per_batch:>10.1f}  {1000 * self.longest_wait:>8.0f}  "
            f"{1000 * self.run_seconds / self.batches:>13.1f}  {self.busy:>5.0%}"
        )


HEADER = f"{'stage':>24}  batches  rows/batch  wait, ms  run/batch, ms   busy"


class StageLog:
    """Observes an engine's stages; `clear` begins anew."""

    def __init__(self) -> None:
        self._reports: dict[str, list[BatchReport]] = defaultdict(list)

    def __call__(self, report: BatchReport) -> None:
        if report.size:
            self._reports[report.stage].append(report)

    def clear(self) -> None:
        self._reports.clear()

    def figures(self, seconds: float) -> list[StageFigures]:
        """Of so many seconds, the stage that ran longest first."""
        found = [_figures(stage, reports, seconds) for stage, reports in self._reports.items()]
        return sorted(found, key=lambda each: -each.run_seconds)


def _figures(stage: str, reports: list[BatchReport], seconds: float) -> StageFigures:
    ran = sum(report.run_seconds for report in reports)
    rows = sum(report.size for report in reports) / len(reports)
    return StageFigures(stage, len(reports), rows, max(report.wait_seconds for report in reports), ran, ran / seconds)
