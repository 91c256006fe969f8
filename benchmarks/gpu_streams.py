"""What one GPU was seen to do, engine by engine: the table of docs/benchmarks.md, and the costs of docs/capacity.md.

    python -m benchmarks.gpu_streams                    # prints the table
    python -m benchmarks.gpu_streams --keep RUN.json    # puts a run of `benchmarks.streams_gpu --out` into the file

`gpu_streams.toml` holds the newest run of each engine, so that no page keeps a figure of its own.
"""

import argparse
import json
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from benchmarks.published_figures import published_for

FILE = Path(__file__).with_suffix(".toml")
TITLES = {
    "kokoro": "Kokoro, float16",
    "wren": "Wren behind a seeded front",
    "cosyvoice3": "CosyVoice 3, bfloat16",
    "cosyvoice2": "CosyVoice 2, bfloat16",
    "zipvoice": "ZipVoice distilled, 4 steps, float16",
    "speechlm": "SpeechLM (Qwen3-1.7B, NeuCodec), bfloat16",
    "qwen3tts-0.6b": "Qwen3-TTS 0.6B, bfloat16",
    "qwen3tts-1.7b": "Qwen3-TTS 1.7B, bfloat16",
    "pockettts": "Pocket TTS",
    "chatterbox": "Chatterbox, bfloat16",
    "chatterbox-turbo": "Chatterbox Turbo, bfloat16",
}


@dataclass(frozen=True, slots=True)
class MeasuredStreams:
    """One engine's run: for each number of streams at once, first audio in ms, audio a second and the share of gapless
    streams. `busy` is the GPU's utilisation; older runs have neither it nor the 95th percentile."""

    engine: str
    card: str
    measured: date
    at_once: list[int]
    first_audio_ms: list[float]
    first_audio_p95_ms: list[float]
    audio_per_second: list[float]
    gapless: list[float]
    busy: list[float]

    @property
    def title(self) -> str:
        return TITLES[self.engine]

    @classmethod
    def of_run(cls, run: dict[str, Any], measured: date) -> "MeasuredStreams":
        """What `benchmarks.streams_gpu --out` wrote."""
        rows = [row for row in run["rows"] if row["at_once"] is not None]
        return cls(
            run["engine"],
            run["card"],
            measured,
            [row["at_once"] for row in rows],
            [round(1e3 * row["first_audio"]["p50"]) for row in rows],
            [round(1e3 * row["first_audio"]["p95"]) for row in rows],
            [round(row["audio_per_second"], 1) for row in rows],
            [round(row["gapless"], 3) for row in rows],
            [round(row["gpu_utilization"], 2) for row in rows],
        )

    def by_streams(self, values: Sequence[float]) -> dict[int, float]:
        return dict(zip(self.at_once, values, strict=True))

    def row(self) -> list[str]:
        published = [figure for figure in published_for(self.engine) if figure.audio_per_second]
        best = max(published, key=lambda figure: figure.audio_per_second or 0.0, default=None)
        return [
            self.title,
            ", ".join(map(str, self.at_once)),
            ", ".join(f"{value:.0f}" for value in self.first_audio_ms) + " ms",
            f"{self.first_audio_p95_ms[-1]:.0f} ms" if self.first_audio_p95_ms else "",
            ", ".join(f"{value:.0f}" if value >= _WHOLE else f"{value:g}" for value in self.audio_per_second),
            f"{min(self.gapless):.1%}".replace("%", " %"),
            f"{max(self.busy):.0%}".replace("%", " %") if self.busy else "",
            self.measured.isoformat(),
            "" if best is None else f"{best.audio_per_second:g} ({best.system}, {best.card}; {best.source})",
        ]


_WHOLE = 100.0
_HEADS = (
    "engine",
    "streams at once",
    "first audio, median",
    "19 of 20, most streams",
    "seconds of audio a second",
    "streams without a gap, least",
    "GPU busy, most",
    "measured",
    "best published, in seconds of audio a second",
)


def measured_streams(file: Path = FILE) -> dict[str, MeasuredStreams]:
    """The newest run of each engine."""
    runs = tomllib.loads(file.read_text(encoding="utf-8"))
    return {engine: MeasuredStreams(engine=engine, **run) for engine, run in runs.items()}


def keep(runs: Sequence[MeasuredStreams], file: Path = FILE) -> None:
    """Put runs into the file, in place of earlier ones of the same engines."""
    kept = (measured_streams(file) if file.exists() else {}) | {run.engine: run for run in runs}
    order = list(TITLES)
    sections = [_section(run) for run in sorted(kept.values(), key=lambda run: order.index(run.engine))]
    head = "# Written by `python -m benchmarks.gpu_streams --keep RUN.json`; not edited by hand.\n"
    file.write_text("\n".join([head, *sections]), encoding="utf-8")


def _section(run: MeasuredStreams) -> str:
    values = asdict(run)
    engine = values.pop("engine")
    lines = [
        f"{name} = {value.isoformat() if isinstance(value, date) else json.dumps(value)}"
        for name, value in values.items()
    ]
    return "\n".join([f'["{engine}"]', *lines, ""])


def table(runs: Sequence[MeasuredStreams]) -> str:
    """The table of docs/benchmarks.md."""
    rows = [_HEADS, ["---"] * len(_HEADS), *(run.row() for run in runs)]
    return "\n".join("| " + " | ".join(row) + " |" if row[0] != "---" else "|" + "---|" * len(row) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="The measured streams of one GPU, as a table.")
    parser.add_argument(
        "--keep", type=Path, nargs="*", default=[], metavar="RUN.json", help="runs to put into the file"
    )
    given = parser.parse_args()
    if given.keep:
        today = datetime.now(tz=UTC).date()
        keep([MeasuredStreams.of_run(json.loads(path.read_text(encoding="utf-8")), today) for path in given.keep])
    print(table(list(measured_streams().values())))


if __name__ == "__main__":
    main()
