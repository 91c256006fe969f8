"""Each rule of admission switched off by itself: what that does to the trial of the problem that it solves.

python -m benchmarks.admission_rules                    # the table of docs/scheduling.md: half a minute
python -m benchmarks.admission_rules --plots docs       # and its plots
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from unittest.mock import patch

from benchmarks.admission_simulation import Outcome
from benchmarks.admission_trials import TRIALS, Figures
from polyvox.runtime.precedence import Precedence
from polyvox.service.admission.capacity import ThroughputEstimator
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.admission.queue import FairQueue
from polyvox.service.admission.schedulability import PlayingStream, is_schedulable
from polyvox.service.admission.ticket import Ticket, TicketState

_ROOM = "polyvox.service.admission"
_FAR = 10**9


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, the problem that it solves, the trial that shows it, and what to put in its place to be without it."""

    problem: str
    trial: str
    figures: tuple[str, ...]
    off: Mapping[str, object]

    def run_without(self) -> tuple[Figures, Outcome]:
        """Play the trial without the rule."""
        with ExitStack() as stack:
            for name, value in self.off.items():
                stack.enter_context(patch(f"{_ROOM}.{name}", value))
            return TRIALS[self.trial].run()


def _false(*_: object) -> bool:
    return False


def _true(*_: object) -> bool:
    return True


def _nothing(*_: object, **__: object) -> None:
    return None


def _none(*_: object) -> list[object]:
    return []


def _first_come(queue: FairQueue[Ticket], entry: Ticket) -> None:
    """Queue without turns: all start at once in virtual time."""
    entry.virtual_start = 0.0
    queue._virtual_finish[entry.client, entry.background] = math.inf
    queue._waiting.append(entry)


def _others_lead(streams: Sequence[PlayingStream], size: float, lead: float, capacity: float) -> bool:
    return all(stream.ahead >= lead for stream in streams)


def _fits(streams: Sequence[PlayingStream], size: float, lead: float, capacity: float) -> bool:
    return is_schedulable([*streams, PlayingStream(0.0, size)], capacity)


def _until_end(ticket: Ticket, now: float, throughput: float) -> float:
    return ticket.audio_left / throughput


def _unweighted(throughput: ThroughputEstimator) -> float:
    chunks = throughput._chunks
    return sum(chunk.audio for chunk in chunks) / sum(chunk.seconds for chunk in chunks)


def _waits_in_queue(controller: AdmissionController, ticket: Ticket) -> bool:
    return ticket.background and any(other.queue is ticket.queue for other in controller._waiting.live())


def _all_live(makes_way: Callable[[], bool], **_: object) -> Precedence:
    return Precedence(makes_way=makes_way)


def _idle_begun(ticket: Ticket) -> None:
    ticket._idle_since = ticket._controller.now()
    ticket._controller.yield_slot(ticket, TicketState.IDLE)


_CONTROLLER = "controller.AdmissionController"
_START_WAITS = ("ticket.LONGEST_START_WAIT", "wait_forecast.LONGEST_START_WAIT", "start_gate.LONGEST_START_WAIT")

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "Clients take turns in the queue, by audio (fair queueing)": Rule(
            "a client's long queue delays all others", "full queue", ("first audio p50",),
            {"queue.FairQueue.push": _first_come},
        ),
        "A client over its share of a full queue gives up its last place": Rule(
            "a client fills the queue", "full queue", ("heard",), {f"{_CONTROLLER}._made_room_for": _false}
        ),
        "Refuse where the forecast wait is longer than the caller accepts": Rule(
            "callers wait in vain", "cores taken away", ("in vain", "in time"), {"controller.MARGIN": _FAR}
        ),
        "The forecast may be 0.7 of the accepted wait": Rule(
            "forecasts err", "cores taken away", ("first audio p95", "in time"),
            {"controller.MARGIN": 1.0, "wait_forecast.MARGIN": 1.0},
        ),
        "The forecast counts until the first audio, not until a slot": Rule(
            "a slot is not a start", "cores taken away", ("in time", "with a gap"),
            {"wait_forecast.WaitForecast._until_start": lambda *_: 0.0},
        ),
        "The forecast is corrected by the error of recent ones": Rule(
            "forecasts err", "overload, capacity not known", ("first audio p50", "in vain"),
            {"capacity.ForecastError.factor": lambda *_: 1.0},
        ),
        "The forecast counts on other clients' next turns": Rule(
            "later callers go first", "cores taken away", ("in vain", "first audio p95"),
            {"wait_forecast._yet_to_come": _none},
        ),
        "A stream holds its slot until its end, or until it has a lead": Rule(
            "long streams look like a long wait", "interruption", ("heard", "refused"),
            {"ticket.Ticket.seconds_left": _until_end},
        ),
        "Who would start too late is refused though a slot is free": Rule(
            "held back beyond its wait", "cores taken away", ("first audio p95", "in time"),
            {f"{_CONTROLLER}._begins_too_late": _false},
        ),
        "Fewer than four streams are not refused": Rule(
            "few callers rather wait", "few callers", ("refused",), {"controller.FEW_STREAMS": 0}
        ),
        "Refused callers are told to return one after the other": Rule(
            "all return at once", "return when told", ("times asked",), {"controller._MAX_SPREAD_SECONDS": 0.0}
        ),
        "That spread ends at 30 s": Rule(
            "advice grows without end", "cores taken away", ("longest advice",),
            {"controller._MAX_SPREAD_SECONDS": _FAR},
        ),
        "A starved client's first stream begins beside those over their share": Rule(
            "a flood delays others", "flood of pages", ("first audio p50", "heard"),
            {"fair_share.FairShare.is_starved": _false},
        ),
        "Its first audio goes before all other work": Rule(
            "the same, in the engine", "flood of pages, cleared for first", ("first audio p95",),
            {"ticket.enter_precedence": _nothing},
        ),
        "Streams over their share stay out of the engine meanwhile": Rule(
            "the same, on shared cores", "flood of pages, cleared for first", ("first audio p95",),
            {f"{_CONTROLLER}.is_over_share": _false},
        ),
        "Only with a second of audio ahead": Rule(
            "staying out makes gaps", "overload, cleared for first", ("in time", "with a gap"),
            {"ticket._SPARE_SECONDS": -math.inf},
        ),
        "A client over its share yields slots while another waits": Rule(
            "a flood holds all slots", "full queue", ("first audio p50",),
            {"fair_share.FairShare.holds_over_share": _false},
        ),
        "It yields while more streams run than should": Rule(
            "a starved start is one too many", "flood of pages, cleared for first", ("first audio p95",),
            {"fair_share.FairShare.crowds_others": _false},
        ),
        "A stream with a lead of 10 s yields its slot while others wait": Rule(
            "long texts fill the slots", "interruption", ("heard", "first audio p95"),
            {"controller.LEAD_SECONDS": _FAR},
        ),
        "It comes back with 5 s of its lead": Rule(
            "yielding makes gaps", "flood of pages, cleared for first", ("with a gap of flood",),
            {"controller._LOW_LEAD_SECONDS": 0.0},
        ),
        "It yields for 1 to 5 s, by its lead": Rule(
            "yielding makes gaps", "overload, capacity not known", ("in time", "silence"),
            {"controller._YIELD_SECONDS": (5.0, 5.0)},
        ),
        "It is woken when nobody waits": Rule(
            "the engine idles", "background jobs, batching", ("batch beside live",),
            {f"{_CONTROLLER}._wake": _nothing},
        ),
        "A stream begins when all can be kept playing (start gate)": Rule(
            "every stream has gaps", "fresh server", ("with a gap", "silence"),
            {"start_gate.StartGate.guards": staticmethod(_false)},
        ),
        "Others have the lead to wait for it": Rule(
            "a start makes gaps", "fresh server", ("with a gap",),
            {"start_gate.has_room": _fits, "schedulability.has_room": _fits},
        ),
        "And for the chunks that run already, and for their own": Rule(
            "a stream that has just begun has gaps", "overload, in pieces", ("with a gap", "silence"),
            {"capacity.ThroughputEstimator.start_seconds": lambda *_: 0.0},
        ),
        "And a spare lead that grows with each stream that ran dry": Rule(
            "the cores come and go", "cores come and go", ("with a gap", "silence"),
            {"capacity.SpareLead.ended": _nothing},
        ),
        "All are schedulable by EDF": Rule(
            "more long texts than can be kept playing", "long texts, slow engine", ("first audio p50", "silence"),
            {"start_gate.has_room": _others_lead, "schedulability.has_room": _others_lead},
        ),
        "No more begin at a time than the engine works for": Rule(
            "first audio of all is late", "fresh server, at once", ("with a gap",),
            {"capacity.ThroughputEstimator.streams_at_once": property(lambda _: _FAR)},
        ),
        "Those with fewest streams begin first": Rule(
            "turns end at the queue", "overload, capacity not known", ("in time", "with a gap"),
            {"start_gate.StartGate.starting_before": _none},
        ),
        "Short ones overtake long ones": Rule(
            "sentences wait for pages", "overload, pages", ("first audio p50",),
            {"start_gate.StartGate._is_not_overtaken": _true},
        ),
        "Not after a quarter of the accepted wait": Rule(
            "pages wait for ever", "overload, capacity not known", ("in time", "with a gap"),
            {"start_gate._PATIENCE": _FAR},
        ),
        "After 30 s a stream begins in any case": Rule(
            "a wait without end", "long texts", ("first audio p95",), dict.fromkeys(_START_WAITS, _FAR)
        ),
        "At most four are held back with a slot": Rule(
            "turns end at the queue", "overload, in pieces", ("in time", "with a gap"), {"queue._MOST_HELD_BACK": _FAR}
        ),
        "One half as long may join them": Rule(
            "sentences wait for pages", "flood of pages, cleared for first", ("refused",), {"queue._MUCH_SHORTER": 0.0}
        ),
        "The limit of streams follows the measured throughput": Rule(
            "too many share the engine", "cores taken away", ("with a gap",),
            {"capacity.ThroughputEstimator.limit": property(lambda throughput: throughput._most)},
        ),
        "A claimed capacity is replaced by what streams got together": Rule(
            "other programs take the cores", "cores taken away", ("in time", "with a gap"),
            {"capacity.ContendedThroughput.per_second": property(_nothing)},
        ),
        "Slower than playback alone, a stream may keep 0.8 of that": Rule(
            "a slow engine that batches is limited", "slower than playback, batching", ("first audio p50",),
            {"capacity._SLOWED": _FAR},
        ),
        "Chunks count by the streams that ran": Rule(
            "a lone stream looks fast", "overload, capacity not known", ("with a gap",),
            {"capacity.ThroughputEstimator._mean": _unweighted},
        ),
        "Background requests hold half of the slots": Rule(
            "live requests find no slot", "background jobs, few slots", ("first audio p50",),
            {"controller._BACKGROUND_SHARE": 1.0},
        ),
        "They grow in number while chunks come soon": Rule(
            "an engine that batches idles", "background jobs, batching", ("batch beside live",),
            {"queue.ModelQueue.count_background_chunk": _nothing},
        ),
        "They shrink where chunks take 2 s": Rule(
            "a live request waits behind them", "background jobs, slow engine", ("first audio p50",),
            {"queue._BACKGROUND_CHUNK_SECONDS": _FAR},
        ),
        "They yield to live requests that wait": Rule(
            "the same", "background jobs, few slots", ("first audio p95",), {f"{_CONTROLLER}._is_in_the_way": _false}
        ),
        "They yield to live streams with less than 5 s ahead": Rule(
            "live streams have gaps", "background jobs, capacity not known", ("heard", "silence of live"),
            {f"{_CONTROLLER}._is_in_the_way": _waits_in_queue},
        ),
        "Their chunks stay out of the engine while a live stream is at work": Rule(
            "a live request waits for a chunk", "background jobs, cleared for first",
            ("first audio p50", "first audio p95"),
            {"ticket.Precedence": _all_live},
        ),
        "A stream without text leaves its slot": Rule(
            "those who wait for words hold all slots", "arriving texts", ("heard", "refused"),
            {"ticket.Ticket.idle": _nothing},
        ),
        "One that is not heard yet begins when its text comes": Rule(
            "many begin at once", "overload, in pieces, some texts arrive", ("with a gap", "silence"),
            {"ticket.Ticket.idle": _idle_begun},
        ),
        "Open sessions are at most two a slot": Rule(
            "stalled readers take all memory", "stalled readers", ("dropped",), {"controller._OPEN_PER_SLOT": _FAR}
        ),
        "Beyond that the longest stalled is dropped": Rule(
            "stalled readers take all sessions", "stalled readers", ("heard",),
            {f"{_CONTROLLER}._drop_stalled": _nothing},
        ),
        "Not before 5 s": Rule(
            "a slow reader is cut off", "slow readers", ("dropped",), {"controller._STALLED_SECONDS": 0.0}
        ),
    }
)  # fmt: skip


def table() -> str:
    """All rules with their figures, as a table of the documents."""
    rows = ["| rule | problem | trial | with the rule | without it |", "|---|---|---|---|---|"]
    for name, rule in RULES.items():
        with_it, without = TRIALS[rule.trial].run()[0], rule.run_without()[0]
        cells = [", ".join(f"{figure} {found[figure]:.3g}" for figure in rule.figures) for found in (with_it, without)]
        rows.append(f"| {name} | {rule.problem} | {rule.trial} | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


def plot(folder: Path) -> None:
    """First audio of each stream with and without a rule, for two problems."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    shown = {
        "scheduling_overload.svg": ("Refuse where the forecast wait is longer than the caller accepts", ""),
        "scheduling_flood.svg": ("A starved client's first stream begins beside those over their share", "other"),
    }
    for file, (name, client) in shown.items():
        rule = RULES[name]
        figure, axes = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
        for label, outcome in (("with the rule", TRIALS[rule.trial].run()[1]), ("without", rule.run_without()[1])):
            heard = outcome.of(client)
            axes.plot([each.entered for each in heard], [each.first_audio for each in heard], "o", ms=4, label=label)
        axes.set(xlabel="second of the trial", ylabel="s to the first audio", title=f"{name}\n(trial: {rule.trial})")
        axes.title.set_fontsize(9)
        axes.legend()
        figure.savefig(folder / file, metadata={"Date": None})
        plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plots", type=Path, help="Draw the plots into this folder.")
    args = parser.parse_args()
    print(table())
    if args.plots:
        plot(args.plots)


if __name__ == "__main__":
    main()
