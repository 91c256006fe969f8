"""Sentences that Kokoro has said once and for all: speech for tests of those who listen, not of Kokoro."""

from functools import cache
from pathlib import Path

from polyvox.audio.decode import decode
from polyvox.audio.resample import resampled
from polyvox.types import Pcm

RATE = 24_000
FOLDER = Path(__file__).parents[1] / "recordings" / "kokoro"

SENTENCES = {
    "fox": "The quick brown fox jumps over the lazy dog.",
    "boy": "The boy was there when the sun rose.",
    "canoe": "The birch canoe slid on the smooth planks.",
    "glue": "Glue the sheet to the dark blue background.",
    "well": "It's easy to tell the depth of a well.",
    "chicken": "These days a chicken leg is a rare dish.",
    "rice": "Rice is often served in round bowls.",
    "juice": "The juice of lemons makes fine punch.",
    "hogs": "The hogs were fed chopped corn and garbage.",
    "hours": "Four hours of steady work faced us.",
    "stockings": "A large size in stockings is hard to sell.",
    "niebla": "Cuando llegaba la niebla, tocaba la campana.",
}


@cache
def spoken(name: str, voice: str = "af_heart") -> Pcm:
    """A sentence by its name, at 24 kHz; `am_adam` says `glue` and `hours` too, and `ef_dora` says `niebla`."""
    pcm, rate = decode((FOLDER / f"{voice}_{name}.opus").read_bytes(), max_seconds=10, max_samples=10**6)
    samples = resampled(pcm.reshape(-1), rate, RATE)
    samples.setflags(write=False)
    return samples
