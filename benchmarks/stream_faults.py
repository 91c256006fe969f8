"""What one stream's misfortune costs the others: `python -m benchmarks.stream_faults --engine cosyvoice3`.

CosyVoice with seeded weights of the released sizes. Streams are spoken together; then again while some are cancelled,
while one has a voice of numbers that are none, and with so little memory for caches that most find no room. Every other
stream is compared with itself in the first, undisturbed round.

Streams that run beside fewer others are rounded otherwise, and seeded weights carry a rounding far. How far is what the
round `nudged` says: nothing disturbs it, but its voice is changed by a millionth.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace

import numpy as np

from benchmarks.seeded_engines import SHORT_TEXTS, VOICE, Seeded, SeededEngine, Sizes, cosyvoice_voice, seeded_engine
from polyvox.installation import load_settings
from polyvox.runtime.device_executor import HANDOVER_SECONDS
from polyvox.service.delivery import closing
from polyvox.service.telemetry.logs import configure_logging
from polyvox.types import Pcm, PreparedVoice, Utterance

_SAME = 1e-3
"""Largest difference of samples that is rounding."""

_NUDGE = 1e-6
"""By which share the voice of the round `nudged` is changed: ten roundings of single precision."""


@dataclass(frozen=True, slots=True)
class Round:
    """What became of the streams of one round: how many were cancelled, broke, or ended as they would undisturbed."""

    name: str
    streams: int
    cancelled: int
    broken: int
    whole: int
    same: int
    worst_difference: float
    worst_rms: float
    """Of a stream's differences, as a share of the undisturbed stream's own."""

    def __str__(self) -> str:
        return (
            f"{self.name:>18}  {self.streams:>7}  {self.cancelled:>9}  {self.broken:>6}  {self.whole:>5}  "
            f"{self.same:>4}  {self.worst_difference:>16.1e}  {self.worst_rms:.1e}"
        )


HEADER = "             round  streams  cancelled  broken  whole  same  worst difference  worst RMS"


@asynccontextmanager
async def _running(seeded: Seeded, settings: dict[str, object]) -> AsyncIterator[SeededEngine]:
    loaded = load_settings(**settings)
    configure_logging(loaded)
    engine = seeded_engine(seeded, loaded)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


async def _speak(engine: SeededEngine, index: int, prepared: PreparedVoice | None, chunks: int | None) -> Pcm:
    """A stream's samples, of so many chunks at most."""
    utterance = Utterance(SHORT_TEXTS[index % len(SHORT_TEXTS)], VOICE, seed=index, prepared=prepared)
    heard: list[Pcm] = []
    async with closing(speech := engine.speak(utterance)):
        async for chunk in speech:
            heard.append(chunk.pcm)
            if chunks is not None and len(heard) >= chunks:
                break
    return np.concatenate(heard)


async def _speak_all(
    engine: SeededEngine,
    count: int,
    *,
    voice: PreparedVoice | None = None,
    broken: PreparedVoice | None = None,
    cancelled: Collection[int] = (),
) -> list[Pcm]:
    """Streams side by side, all of one voice; the first has the broken one, where one is given."""
    return await asyncio.gather(
        *(
            _speak(engine, index, broken if broken and index == 0 else voice, 1 if index in cancelled else None)
            for index in range(count)
        )
    )


def _compare(name: str, heard: Sequence[Pcm], undisturbed: Sequence[Pcm], cancelled: Collection[int] = ()) -> Round:
    broken = [index for index, pcm in enumerate(heard) if not np.isfinite(pcm).all()]
    rest = [index for index in range(len(heard)) if index not in broken and index not in cancelled]
    whole = [index for index in rest if len(heard[index]) == len(undisturbed[index])]
    differences = [float(np.abs(heard[index] - undisturbed[index]).max(initial=0.0)) for index in whole]
    shares = [_rms(heard[index] - undisturbed[index]) / _rms(undisturbed[index]) for index in whole]
    same = sum(difference < _SAME for difference in differences)
    worst = (max(found, default=float("nan")) for found in (differences, shares))
    return Round(name, len(heard), len(cancelled), len(broken), len(whole), same, *worst)


def _rms(samples: Pcm) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


async def run(given: argparse.Namespace, say: Callable[[str], None]) -> list[Round]:
    """All rounds, each said as it comes."""
    seeded = Seeded(
        given.engine,
        given.device,
        given.precision,
        seconds=given.utterance_seconds,
        prompt_seconds=given.prompt_seconds,
        sizes=Sizes.tiny() if given.tiny else Sizes(),
    )
    count, settings = given.at_once, seeded.settings(given.at_once)
    voice = cosyvoice_voice(seeded.sizes.cosyvoice(int(given.engine[-1])), seeded)
    no_numbers = replace(
        voice, digest="broken", arrays={**voice.arrays, "mel": np.full_like(voice.arrays["mel"], np.nan)}
    )
    nudged = replace(voice, digest="nudged", arrays={**voice.arrays, "mel": voice.arrays["mel"] * (1 + _NUDGE)})
    cancelled = set(range(1, count, 3))
    found: list[Round] = []

    def tell(each: Round) -> None:
        found.append(each)
        say(str(each))

    say(HEADER)
    async with _running(seeded, settings) as engine:
        undisturbed = await _speak_all(engine, count)
        tell(_compare("again", await _speak_all(engine, count), undisturbed))
        tell(_compare("nudged", await _speak_all(engine, count, voice=nudged), undisturbed))
        heard = await _speak_all(engine, count, cancelled=cancelled)
        tell(_compare("some cancelled", heard, undisturbed, cancelled))
        tell(_compare("one broken", await _speak_all(engine, count, broken=no_numbers), undisturbed))
        tell(_compare("after the broken", await _speak_all(engine, count), undisturbed))
    async with _running(seeded, settings | {"cosyvoice_flow_bytes": given.flow_bytes}) as engine:
        tell(_compare("memory exhausted", await _speak_all(engine, count), undisturbed))
    return found


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("cosyvoice2", "cosyvoice3"), default="cosyvoice3")
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--utterance-seconds", type=float, default=6.0)
    parser.add_argument("--prompt-seconds", type=float, default=5.0)
    parser.add_argument("--precision", help="what the engine prefers, if not given")
    parser.add_argument("--flow-bytes", type=int, default=1 << 30, help="of the round without memory")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small networks, to try the trial out")
    return parser


def main() -> None:
    given = arguments().parse_args()
    sys.setswitchinterval(HANDOVER_SECONDS)
    found = asyncio.run(run(given, lambda line: print(line, flush=True)))
    print(json.dumps([asdict(each) for each in found]), flush=True)


if __name__ == "__main__":
    main()
