"""CPU time and bits of each audio format, for a second of speech in chunks of a second.

python -m benchmarks.encoding_cost --rounds 3
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soxr

from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, StreamEncoder
from polyvox.types import Pcm

RATE = 24_000
FORMATS = (AudioFormat.PCM, AudioFormat.MP3, AudioFormat.OPUS, AudioFormat.AAC, AudioFormat.FLAC)
RECORDING = Path(__file__).parents[1] / "tests" / "recordings" / "librivox_a.flac"


@dataclass(frozen=True, slots=True)
class EncodingCost:
    """CPU seconds and bits for a second of audio."""

    cpu_seconds: float
    bits: float


def speech(seconds: int) -> Pcm:
    """A recording in the models' rate, over and over."""
    pcm, rate = decode(RECORDING.read_bytes(), max_seconds=60, max_samples=10**7)
    once: Pcm = soxr.resample(pcm.reshape(-1), rate, RATE).astype(np.float32)
    return np.resize(once, RATE * seconds)


def cost_of(audio_format: AudioFormat, pcm: Pcm, rounds: int) -> EncodingCost:
    """Encode the samples some times, as many streams would be."""
    began, written = time.process_time(), 0
    for _ in range(rounds):
        with StreamEncoder(audio_format, RATE) as encoder:
            written += sum(len(encoder.encode(chunk)) for chunk in _chunks(pcm)) + len(encoder.finish())
    seconds = rounds * len(pcm) / RATE
    return EncodingCost((time.process_time() - began) / seconds, written * 8 / seconds)


def _chunks(pcm: Pcm) -> Sequence[Pcm]:
    return [pcm[start : start + RATE] for start in range(0, len(pcm), RATE)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    pcm = speech(60)
    print("| format | CPU ms a second of audio | kbit/s |\n|---|---|---|")
    for audio_format in FORMATS:
        cost = cost_of(audio_format, pcm, args.rounds)
        print(f"| {audio_format.value} | {cost.cpu_seconds * 1e3:.2f} | {cost.bits / 1e3:.0f} |")


if __name__ == "__main__":
    main()
