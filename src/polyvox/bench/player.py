"""A simulated player: playback and its under-runs, computed from the arrival times of audio."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arrival:
    """A piece of audio: its arrival time and its duration, in seconds."""

    time: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Playback:
    """The start of playback, how often the buffer ran empty, and for how many seconds in all."""

    started: float
    underruns: int
    starved: float


def play(arrivals: Sequence[Arrival], prebuffer: float = 0.0) -> Playback:
    """Play the pieces as they come.

    The player starts `prebuffer` seconds after the first audio. Whenever the audio in hand ends before the next piece
    is there, it stops, which counts as one under-run, and goes on the moment that piece comes.
    """
    started = arrivals[0].time + prebuffer
    dry_at = started
    underruns = 0
    starved = 0.0
    for arrival in arrivals:
        if arrival.time > dry_at:
            underruns += 1
            starved += arrival.time - dry_at
            dry_at = arrival.time
        dry_at += arrival.seconds
    return Playback(started, underruns, starved)
