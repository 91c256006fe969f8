"""How many devices a number of streams needs, from measured costs; the tables of docs/capacity.md.

    python -m benchmarks.capacity

A stream is one listener who hears speech all the time: one second of audio a second. Costs are the measurements of
`gpu_streams.toml` and `figures.toml`; those for an L20 are not measured, see `L20`.
"""

import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.gpu_streams import MeasuredStreams, measured_streams
from benchmarks.stream_simulation import Figures, Step, Stream, Workers, poisson_arrivals, simulate

STREAMS = (100, 10_000, 1_000_000)
UTILISATION = 0.7
"""Share of a device's throughput that is planned with; the simulation shows why."""
UTTERANCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU by its data sheet: memory bandwidth in TB/s, dense 16-bit matrix products in TFLOP/s, memory in GB."""

    name: str
    bandwidth: float
    tflops: float
    memory: float

    def share_of(self, other: "Gpu") -> float:
        """How much of the other's work it can do: the worse of bandwidth and arithmetic."""
        return min(self.bandwidth / other.bandwidth, self.tflops / other.tflops)


H200 = Gpu("H200", bandwidth=4.8, tflops=989.0, memory=141.0)
L20 = Gpu("L20", bandwidth=0.864, tflops=119.5, memory=48.0)
"""Not measured: what an H200 was seen to do, times the ratio of the data sheets."""


@dataclass(frozen=True, slots=True)
class GpuCost:
    """A model on an H200 by the number of streams at once: seconds of audio a second, and first audio in seconds."""

    model: str
    audio_per_second: dict[int, float]
    first_audio: dict[int, float]
    utterance: float = 10.0
    """Seconds of the utterances that were measured."""
    chunks: int = 10
    """In how many chunks they came."""

    @property
    def ceiling(self) -> float:
        """The most that was measured; beyond it nothing is assumed."""
        return max(self.audio_per_second.values())

    @property
    def width(self) -> int:
        return max(self.audio_per_second)

    def steps(self) -> tuple[Step, ...]:
        """An utterance, chunk by chunk, by lines through what was measured.

        All steps together cost what the throughput says, and the first one what the first audio says.
        """
        fixed, each = _line({width: width / rate for width, rate in self.audio_per_second.items()})
        first_fixed, first_each = _line(self.first_audio)
        audio = self.utterance / self.chunks
        later = Step((self.utterance * each - first_each) / (self.chunks - 1), audio, fixed * audio)
        return (Step(first_each, audio, first_fixed), *[later] * (self.chunks - 1))


def _line(points: dict[int, float]) -> tuple[float, float]:
    """The straight line through points: its value at 0, and its slope."""
    slope, start = np.polyfit(np.array(list(points), dtype=float), np.array(list(points.values())), 1)
    return float(start), float(slope)


def measured_figure(name: str) -> float:
    """A figure that several pages name."""
    figures = tomllib.loads(Path(__file__).with_name("figures.toml").read_text(encoding="utf-8"))
    return float(figures[name]["value"])


@dataclass(frozen=True, slots=True)
class CpuCost:
    """A model on one core: CPU seconds for a second of audio, and where that was measured."""

    model: str
    cpu_seconds: float
    core: str


_PLANNED = {
    "kokoro": (12.6, 5),
    "cosyvoice3": (10.0, 10),
    "speechlm": (10.0, 10),
    "zipvoice": (10.0, 10),
    "qwen3tts-0.6b": (10.0, 10),
}
"""Engines of the tables, the seconds of the utterances that were measured, and in how many chunks they came."""
_MOST_STREAMS = 64
"""Streams at once up to which measurements count: beyond, requests wait for each other."""


def _gpu_cost(streams: MeasuredStreams, utterance: float, chunks: int) -> GpuCost:
    rates, times = streams.by_streams(streams.audio_per_second), streams.by_streams(streams.first_audio_ms)
    counted = [count for count in rates if count <= _MOST_STREAMS]
    return GpuCost(
        streams.title,
        {count: rates[count] for count in counted},
        {count: times[count] / 1e3 for count in counted},
        utterance,
        chunks,
    )


GPU_COSTS = tuple(_gpu_cost(measured_streams()[engine], *shape) for engine, shape in _PLANNED.items())
CPU_COSTS = (
    CpuCost("Wren", measured_figure("wren_cpu"), "Xeon at 2.1 GHz"),
    CpuCost("Kokoro", measured_figure("kokoro_cpu"), "Xeon at 2.1 GHz"),
    CpuCost("ZipVoice distilled, 4 steps", 1.12, "Sapphire Rapids"),
)

DOOR_CPU_SECONDS = 0.0061 / 20.0
"""Of the doors for a second of PCM: 6.1 ms for 20 s of audio (`polyvox bench servers`, uvicorn, 50 streams)."""
ENCODING = {"PCM": (0.0, 384_000), "MP3": (0.0098, 96_000), "Opus": (0.0070, 90_000)}
"""CPU seconds besides for a second of audio, and bits a second (`python -m benchmarks.encoding_cost`)."""
CONNECTIONS = 2_048
"""`max_connections` of one process."""


def devices(streams: int, streams_each: float) -> int:
    return math.ceil(streams / streams_each)


def model_rows() -> Iterator[tuple[str, str, str, float]]:
    """Model, device, cost and streams for each device at the planned share."""
    for gpu_cost in GPU_COSTS:
        for gpu in (H200, L20):
            share = gpu.share_of(H200)
            rate = gpu_cost.ceiling * share
            yield gpu_cost.model, gpu.name, f"{rate:.0f} s of audio a second", rate * UTILISATION
    for cpu_cost in CPU_COSTS:
        cost = f"{cpu_cost.cpu_seconds:.3g} CPU s a second of audio"
        yield cpu_cost.model, f"core ({cpu_cost.core})", cost, UTILISATION / cpu_cost.cpu_seconds


def model_table() -> str:
    heads = ["model", "device", "cost", "streams for each", *(f"{streams:,} streams" for streams in STREAMS)]
    return _table(
        heads,
        [
            [model, device, cost, f"{each:.3g}", *(f"{devices(streams, each):,}" for streams in STREAMS)]
            for model, device, cost, each in model_rows()
        ],
    )


def path_table() -> str:
    """What the rest of the path carries, whatever the model."""
    rows: list[list[str]] = []
    rows.append(["requests a second", *(f"{streams / UTTERANCE_SECONDS:,.0f}" for streams in STREAMS)])
    for name, (cpu, bits) in ENCODING.items():
        cores = [math.ceil(streams * (DOOR_CPU_SECONDS + cpu) / UTILISATION) for streams in STREAMS]
        rows.append([f"cores of the doors, {name}", *(f"{each:,}" for each in cores)])
        rows.append([f"egress, {name}", *(_bits(streams * bits) for streams in STREAMS)])
    rows.append(["door processes, by connections", *(f"{devices(streams, CONNECTIONS):,}" for streams in STREAMS)])
    return _table(["", *(f"{streams:,} streams" for streams in STREAMS)], rows)


def _bits(bits: float) -> str:
    return f"{bits / 1e9:,.3g} Gbit/s" if bits < 1e11 else f"{bits / 1e9:,.0f} Gbit/s"


def gpu_figures(cost: GpuCost, load: float, seconds: float = 60.0) -> Figures:
    """Utterances that arrive by chance for some seconds, at a share of the most that was measured."""
    rate = load * cost.ceiling / cost.utterance
    return simulated(cost, poisson_arrivals(rate, round(rate * seconds)))


def simulated(cost: GpuCost, arrivals: Sequence[float]) -> Figures:
    """What listeners of utterances that arrive then would hear."""
    steps = cost.steps()
    return Figures.of(simulate([Stream(arrival, steps) for arrival in arrivals], Workers(width=cost.width)))


def load_table(loads: Sequence[float] = (0.5, 0.7, 0.85, 0.95)) -> str:
    """Simulated first audio on an H200 by load: median and 19 of 20, and streams without a gap."""
    rows = []
    for cost in GPU_COSTS:
        cells = []
        for load in loads:
            found = gpu_figures(cost, load)
            cells.append(f"{found.first_audio * 1e3:.0f}, {found.first_audio_95 * 1e3:.0f} ms; {found.gapless:.0%}")
        rows.append([cost.model, *(cell.replace("%", " %") for cell in cells)])
    return _table(["model", *(f"at {load:.0%}".replace("%", " %") for load in loads)], rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def main() -> None:
    print("\n\n".join((model_table(), path_table(), load_table())))


if __name__ == "__main__":
    main()
