"""Words as cues: cut where a reader would, shown for as long as they are spoken and can be read."""

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Final

from polyvox.text.captions.breaks import break_cost
from polyvox.text.captions.rules import CueRules
from polyvox.text.captions.words import Boundary, CaptionWord, caption_words
from polyvox.types import Span, WordTiming

DEFAULT_RULES: Final = CueRules()
_CUE_COST: Final = 10.0
_SENTENCE_INSIDE_COST: Final = 14.0
_PARAGRAPH_INSIDE_COST: Final = 25.0
_HASTE_COST: Final = 60.0
"""Of a cue that has to make room for the next at once; less the longer it can stay."""
_SILENCE_COST: Final = 20.0
"""Of each second of silence inside a cue."""
_LINE_SHARE: Final = 0.3
"""The cost of a line break, as a share of that of a cue's end at the same place."""
_UNEVEN_COST: Final = 6.0
MAX_SPEAKER_CHARS: Final = 24


@dataclass(frozen=True, slots=True)
class Cue:
    """Lines that are shown together, from `start` to `end` in seconds, and the words in them.

    `offsets` are the places of the words in the lines joined by line ends.
    """

    start: float
    end: float
    lines: tuple[str, ...]
    words: tuple[WordTiming, ...]
    speaker: str = ""
    offsets: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def cues(words: Sequence[WordTiming], rules: CueRules = DEFAULT_RULES, *, text: str = "") -> tuple[Cue, ...]:
    """The cues of a text that was spoken. With `text`, to which the words' spans belong, they keep its punctuation."""
    return cues_of(caption_words(words, text), rules)


def cues_of(words: Sequence[CaptionWord], rules: CueRules = DEFAULT_RULES) -> tuple[Cue, ...]:
    """The cues of words in the order of their times; a change of speaker begins another."""
    fitting = [piece for word in _in_order(words) for piece in _pieces(word, rules)]
    groups = [group for run in _runs(fitting, rules) for group in _Run(run, rules).groups()]
    return tuple(_timed([_laid_out(group, rules) for group in groups], rules))


def speaker_label(speaker: str) -> str:
    """A speaker's name as it stands before the first words of a turn."""
    name = " ".join(speaker.split())
    return f"{name if len(name) <= MAX_SPEAKER_CHARS else name[: MAX_SPEAKER_CHARS - 1] + '…'}: " if name else ""


def _in_order(words: Sequence[CaptionWord]) -> Iterator[CaptionWord]:
    """The words with finite times, none of which begins before the one before it or ends before it begins."""
    start = 0.0
    for word in words:
        timing = word.timing
        start = max(start, timing.start if math.isfinite(timing.start) else start)
        end = max(start, timing.end if math.isfinite(timing.end) else start)
        yield word if (start, end) == (timing.start, timing.end) else _at(word, start, end)


def _at(word: CaptionWord, start: float, end: float) -> CaptionWord:
    return replace(word, timing=replace(word.timing, start=start, end=end))


def _pieces(word: CaptionWord, rules: CueRules) -> Iterator[CaptionWord]:
    """A word that fits into a line, or the parts of one that does not, with their shares of its time."""
    parts = _parts(word.text, rules)
    if len(parts) == 1:
        yield word
        return
    timing, total, done = word.timing, len(word.text), 0
    length, begun = len(timing.span), 0
    for index, part in enumerate(parts):
        done += len(part)
        reached = length * done // total
        share = (timing.end - timing.start) / total
        cut = replace(
            timing,
            word=part,
            start=timing.start + share * (done - len(part)),
            end=timing.start + share * done,
            span=Span(timing.span.start + begun, timing.span.start + reached),
        )
        begun = reached
        boundary = word.boundary if index == len(parts) - 1 else Boundary.WORD
        yield CaptionWord(cut, part.strip(), word.spaced if not index else part[0] == " ", boundary, word.speaker)


def _parts(text: str, rules: CueRules) -> list[str]:
    """The text in parts that fit into a line: at spaces, else between characters."""
    parts, start, width = [], 0, 0
    for at, char in enumerate(text):
        width += rules.width(char)
        if width > rules.line_width and unicodedata.category(char)[0] != "M":
            space = text.rfind(" ", start + 1, at)
            cut = space if space > start else at
            parts.append(text[start:cut])
            start, width = cut, rules.width(text[cut : at + 1])
    return [*parts, text[start:]]


def _runs(words: Sequence[CaptionWord], rules: CueRules) -> Iterator[list[CaptionWord]]:
    """The words between places where a cue has to end."""
    run: list[CaptionWord] = []
    for word in words:
        if run and _parts_run(run[-1], word, rules):
            yield run
            run = []
        run.append(word)
    if run:
        yield run


def _parts_run(before: CaptionWord, behind: CaptionWord, rules: CueRules) -> bool:
    silence = behind.timing.start - before.timing.end
    return before.speaker != behind.speaker or silence >= rules.max_silence


class _Run:
    """Words that may be cut anywhere: finds the cuts that cost least together."""

    def __init__(self, words: Sequence[CaptionWord], rules: CueRules) -> None:
        self._words = words
        self._rules = rules
        self._end_costs = [*(break_cost(before, behind) for before, behind in pairwise(words)), 0]
        inside = (_inside_cost(before, behind) for before, behind in pairwise(words))
        self._inside_costs = list(accumulate(inside, initial=0.0))

    def groups(self) -> Iterator[Sequence[CaptionWord]]:
        """The words of each cue."""
        count = len(self._words)
        best, begun = [0.0] + [math.inf] * count, [0] * (count + 1)
        for start in range(count):
            for end in self._ends(start):
                cost = best[start] + self._cost(start, end)
                if cost < best[end]:
                    best[end], begun[end] = cost, start
        cuts = [count]
        while cuts[-1]:
            cuts.append(begun[cuts[-1]])
        for start, end in pairwise(reversed(cuts)):
            yield self._words[start:end]

    def _ends(self, start: int) -> Iterator[int]:
        """Places at which a cue that begins with a word may end."""
        rules, first = self._rules, self._words[start]
        lines, used = 1, rules.width(speaker_label(first.speaker)) if not start else 0
        if used + rules.width(first.text) > rules.line_width:
            used = 0
        for end in range(start, len(self._words)):
            word = self._words[end]
            width = rules.width(word.text)
            room = used + rules.width(" ") * (word.spaced and end > start) + width
            lines, used = (lines, room) if room <= rules.line_width else (lines + 1, width)
            too_long = lines > rules.max_lines or word.timing.end - first.timing.start > rules.max_seconds
            if too_long and end > start:
                return
            yield end + 1

    def _cost(self, start: int, end: int) -> float:
        rules, words = self._rules, self._words
        cost = _CUE_COST + self._inside_costs[end - 1] - self._inside_costs[start] + self._end_costs[end - 1]
        if end < len(words):
            shown = words[end].timing.start - rules.gap_seconds - words[start].timing.start
            cost += _HASTE_COST * max(0.0, 1 - shown / rules.min_seconds)
        return cost


def _inside_cost(before: CaptionWord, behind: CaptionWord) -> float:
    """The cost of keeping two words in one cue."""
    silence = _SILENCE_COST * max(0.0, behind.timing.start - before.timing.end)
    if before.boundary is Boundary.PARAGRAPH:
        return _PARAGRAPH_INSIDE_COST + silence
    return silence + _SENTENCE_INSIDE_COST * (before.boundary is Boundary.SENTENCE)


def _laid_out(words: Sequence[CaptionWord], rules: CueRules) -> Cue:
    """A cue that is shown while its words are spoken, its lines cut where that reads best."""
    starts = _line_starts(words, rules)
    lines: list[str] = []
    offsets: list[int] = []
    length = 0
    for start, end in pairwise((*starts, len(words))):
        line = ""
        for index in range(start, end):
            line += " " * (words[index].spaced and index > start)
            offsets.append(length + len(line))
            line += words[index].text
        lines.append(line)
        length += len(line) + 1
    timings = tuple(word.timing for word in words)
    last = max(timing.end for timing in timings)
    return Cue(timings[0].start, last, tuple(lines), timings, words[0].speaker, tuple(offsets))


def _line_starts(words: Sequence[CaptionWord], rules: CueRules) -> list[int]:
    """The first words of the lines: as few lines as will do, and among those layouts the one that costs least."""
    label = rules.width(speaker_label(words[0].speaker))
    layouts = {0: (0.0, [0])}
    for _ in range(rules.max_lines):
        following: dict[int, tuple[float, list[int]]] = {}
        for start, (cost, starts) in layouts.items():
            for end in _line_ends(words, start, 0 if start else label, rules):
                found = cost + _line_cost(words, start, end, rules)
                if found < following.get(end, (math.inf, []))[0]:
                    following[end] = found, [*starts, end]
        if len(words) in following:
            return following[len(words)][1][:-1]
        layouts = following
    return list(range(len(words)))[: rules.max_lines]


def _line_ends(words: Sequence[CaptionWord], start: int, label: int, rules: CueRules) -> Iterator[int]:
    used = label
    for end in range(start, len(words)):
        used += rules.width(" " * (words[end].spaced and end > start) + words[end].text)
        if used > rules.line_width and end > start:
            return
        yield end + 1


def _line_cost(words: Sequence[CaptionWord], start: int, end: int, rules: CueRules) -> float:
    """Of a line: of its end, and of being longer than its share."""
    fill = sum(rules.width(word.text) for word in words[start:end]) / rules.line_width
    last = 0 if end == len(words) else _LINE_SHARE * break_cost(words[end - 1], words[end])
    return last + _UNEVEN_COST * fill**2


def _timed(found: Sequence[Cue], rules: CueRules) -> Iterator[Cue]:
    """The cues with the times at which they are shown, in whole milliseconds; never two at once."""
    free = 0
    for cue, following in pairwise((*found, None)):
        assert cue is not None
        start = max(free, round(cue.start * 1000))
        end = start + 1000 * _shown_seconds(cue, rules)
        limit = math.inf if following is None else _latest_end(cue, following, rules)
        if limit - end < 1000 * rules.chain_seconds and (limit - start) <= 1000 * rules.max_seconds:
            end = limit
        free = max(start + 1, round(min(end, limit)))
        yield replace(cue, start=start / 1000, end=free / 1000)


def _shown_seconds(cue: Cue, rules: CueRules) -> float:
    spoken = cue.end - cue.start
    wanted = max(rules.min_seconds, rules.reading_seconds("".join(cue.lines)))
    return max(spoken, min(wanted, rules.max_seconds))


def _latest_end(cue: Cue, following: Cue, rules: CueRules) -> float:
    """Milliseconds at which a cue has to make room; its last word is seen for half of its time at least."""
    last = cue.words[-1].start
    return 1000 * max(following.start - rules.gap_seconds, (last + following.start) / 2)
