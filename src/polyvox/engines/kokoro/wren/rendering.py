"""Rendering of a chunk while it is decoded: what `render` does to a whole one, done piece by piece.

A piece is made of whole words: it ends where the next word begins.
How loud a chunk becomes is not known until its end. Its peak so far stands for that, and at first a usual one.
"""

import numpy as np
import numpy.typing as npt

from polyvox.audio.edges import SILENCE_DB, with_faded_edges
from polyvox.audio.limiter import StreamLimiter
from polyvox.audio.pcm import silence
from polyvox.engines.kokoro.levels import CEILING_DBFS
from polyvox.engines.kokoro.pauses import WINDOW_SAMPLES, MissingPause, moved, pause_levels, pause_places, quiet_windows
from polyvox.engines.kokoro.render import (
    FADE_SAMPLES,
    LEAD_IN_SAMPLES,
    LEAD_OUT_SAMPLES,
    SAMPLE_RATE,
    RenderedChunk,
)
from polyvox.engines.kokoro.request import SynthesisRequest
from polyvox.engines.kokoro.timing import FRAME_SAMPLES, AlignedWord, heard_words, planned_words
from polyvox.types import Pcm

_USUAL_PEAK = 0.3
_LONGEST_FADE_WINDOWS = 5
"""Samples before a pause that its fade may reach, in windows."""


class StreamRenderer:
    """One chunk on its way to the listener. `push` takes the decoder's samples and gives what can be heard already."""

    def __init__(self, request: SynthesisRequest, durations: npt.NDArray[np.int64]) -> None:
        """Durations of all ids; those of a chunk's opening are enough until what comes after it is pushed."""
        self._request = request
        self._raw = self._faded = self._levels = np.zeros(0, np.float32)
        self._known = self._rendered = self._sent = self._inserted = self._words_sent = self._resolved = 0
        self._start: int | None = None
        self._pauses: list[MissingPause] = []
        self._limiter = None if request.gain is None else StreamLimiter(CEILING_DBFS, SAMPLE_RATE)
        self.extend(durations)

    def extend(self, durations: npt.NDArray[np.int64]) -> None:
        """Take the durations of all ids; those of what was pushed already are the same as before."""
        chunk, speed = self._request.phoneme_chunk, self._request.input.speed
        ids = len(self._request.input.ids) + 2
        self._complete = len(durations) == ids
        self._durations = np.pad(durations, (0, ids - len(durations)))
        longer = np.zeros(int(durations.sum()) * FRAME_SAMPLES - len(self._raw), np.float32)
        self._raw, self._faded = np.concatenate((self._raw, longer)), np.concatenate((self._faded, longer))
        self._words = planned_words(chunk, self._durations)
        self.cuts = [parts[0].samples.start for parts in self._words[1:]]
        """Places at which pieces may end, in the decoder's samples."""
        places = pause_places(chunk, self._durations, len(self._raw) // WINDOW_SAMPLES, speed, SAMPLE_RATE)
        self._places = places[self._resolved :]

    def push(self, pcm: Pcm) -> RenderedChunk | None:
        """The next piece of the chunk; None where nothing can be heard yet."""
        end = self._known + len(pcm)
        self._raw[self._known : end] = self._faded[self._known : end] = pcm
        self._known, last = end, self._complete and end == len(self._raw)
        new = pause_levels(self._raw[len(self._levels) * WINDOW_SAMPLES : end])
        self._levels = levels = np.concatenate((self._levels, new))
        peak = float(levels.max(initial=0.0)) if last else max(float(levels.max(initial=0.0)), _USUAL_PEAK)
        quiet = quiet_windows(levels, peak)
        audible = np.flatnonzero(levels > max(peak * 10 ** (-SILENCE_DB / 20), 1e-4))
        if self._start is None:
            if not len(audible) and not last:
                return None
            self._begin(int(audible[0]) * WINDOW_SAMPLES if len(audible) else 0)
        self._resolve(levels, quiet, last)
        heard = (int(audible[-1]) + 1) * WINDOW_SAMPLES if len(audible) else 0
        until = min(len(self._raw), heard + LEAD_OUT_SAMPLES)
        return self._render(until if last else self._cut(min(end, until - FADE_SAMPLES, self._held(quiet))), last)

    def _cut(self, until: int) -> int:
        """The last place to end a piece that is not behind this one."""
        return max([self._rendered, *(cut for cut in self.cuts if cut <= until)])

    def _begin(self, speech: int) -> None:
        start = max(0, speech - LEAD_IN_SAMPLES)
        self._start = self._rendered = start
        self._fade(start, FADE_SAMPLES, rising=True)

    def _resolve(self, levels: Pcm, quiet: npt.NDArray[np.bool_], last: bool) -> None:
        """Find the pauses whose silence has come to its end."""
        while self._places:
            place = self._places[0]
            ended = len(levels) > place.region.end and not quiet[place.region.end - 1 :].all()
            if not (ended or last):
                return
            del self._places[0]
            self._resolved += 1
            pause = place.missing(levels, quiet)
            if pause is not None and pause.at > self._rendered:
                self._pauses.append(pause)
                self._fade(pause.at - pause.fall, pause.fall, rising=False)
                self._fade(pause.at, pause.rise, rising=True)

    def _held(self, quiet: npt.NDArray[np.bool_]) -> int:
        """The sample before which the next pause cannot be."""
        if not self._places:
            return len(self._raw)
        window = min(self._places[0].region.start, len(quiet))
        while window > 0 and quiet[window - 1]:
            window -= 1
        return max(0, window - _LONGEST_FADE_WINDOWS) * WINDOW_SAMPLES

    def _render(self, until: int, last: bool) -> RenderedChunk | None:
        """Everything up to a sample of the decoder's, with the pauses before it."""
        if until == self._rendered and not last:
            return None
        if last:
            self._fade(until - FADE_SAMPLES, FADE_SAMPLES, rising=False)
        pcm = self._levelled(self._with_pauses(until), last)
        trimmed = self._trimmed + self._sent
        self._rendered, self._sent = until, self._sent + len(pcm)
        words = self._ready_words(last)
        if last:
            pause = self._request.chunk.pause(self._request.input.speed)
            edges = (LEAD_IN_SAMPLES + LEAD_OUT_SAMPLES) / SAMPLE_RATE
            pcm = np.concatenate((pcm, silence(max(0.0, pause - edges), SAMPLE_RATE)))
        return RenderedChunk(pcm, trimmed, words, last)

    @property
    def _trimmed(self) -> int:
        return self._start or 0

    def _with_pauses(self, until: int) -> Pcm:
        parts, start = [], self._rendered
        for pause in self._pauses[self._inserted :]:
            if pause.at <= until:
                parts += [self._faded[start : pause.at], np.zeros(pause.length, np.float32)]
                start, self._inserted = pause.at, self._inserted + 1
        return np.concatenate((*parts, self._faded[start:until]))

    def _levelled(self, pcm: Pcm, last: bool) -> Pcm:
        if self._limiter is None:
            return pcm
        pushed = self._limiter.push(pcm * np.float32(self._request.gain))
        return np.concatenate((pushed, self._limiter.finish())) if last else pushed

    def _ready_words(self, last: bool) -> tuple[AlignedWord, ...]:
        """The words that are rendered to their end and were not given yet."""
        count, cuts = self._words_sent, self.cuts
        while count < len(self._words) and (last or (count < len(cuts) and cuts[count] <= self._rendered)):
            count += 1
        ready, self._words_sent = self._words[self._words_sent : count], count
        return tuple(moved(word, self._pauses) for word in heard_words(ready, self._raw, SAMPLE_RATE))

    def _fade(self, start: int, length: int, *, rising: bool) -> None:
        start, end = max(0, start), min(len(self._faded), max(0, start + length))
        rise, fall = (end - start, 0) if rising else (0, end - start)
        self._faded[start:end] = with_faded_edges(self._faded[start:end], rise, fall)
