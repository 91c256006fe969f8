"""Texts as the model was trained on them: rules for characters and ends, division into chunks, and their ids."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tokenizers import Tokenizer

MAX_TOKENS = 50
"""Ids of a chunk, where its sentences can be divided so."""
MOST_TOKENS = 128
"""Ids of a chunk at the very most: a sentence without a comma stays whole up to here, and is cut at a blank beyond."""
_LONGEST_WORD = MOST_TOKENS // 4
"""Characters, each of which may be as many ids as it has bytes."""
_FEW_WORDS = 4
_PAD_BELOW, _PADDING = 5, " " * 8
_FRAMES_PER_SECOND = 12.5
_ENDS = ".!?…"
_WEAK = ",;:-–—"
_CLOSERS = "\"'”’)]»"
_SENTENCE_ENDS, _CLAUSE_ENDS = ".!...?", ",;:"
_STRAY = re.compile(r"([.!?…])\s*[,;:]")


@dataclass(frozen=True, slots=True)
class TextRules:
    """Rules for a text before it is tokenised, as a model's configuration has them."""

    replacements: Mapping[str, str] = field(default_factory=dict)
    pads_short: bool = False
    drops_semicolons: bool = False
    ends_sentences: bool = True
    capitalizes: bool = True
    tail: int | None = None
    """Frames behind the end of speech; None: as many as fit the number of words."""


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A stretch that is spoken as one: its ids, and how long its speech may go on."""

    text: str
    ids: tuple[int, ...]
    tail: int
    """Frames that are spoken from the one at which the end is heard."""

    @property
    def max_frames(self) -> int:
        return math.ceil((len(self.ids) / 3 + 2) * _FRAMES_PER_SECOND)


class TextDivider:
    """Divides texts into chunks. Thread-safe."""

    def __init__(self, tokenizer: Tokenizer, rules: TextRules) -> None:
        self._tokenizer, self._rules = tokenizer, rules
        self._table = str.maketrans(dict(rules.replacements))
        # Without the first id, which is the blank that the tokenizer puts in front.
        self._sentence_ends = frozenset(self._encode(_SENTENCE_ENDS)[1:])
        self._clause_ends = frozenset(self._encode(_CLAUSE_ENDS)[1:])

    def chunks(self, text: str, max_tokens: int = MAX_TOKENS) -> list[TextChunk]:
        """The chunks of a text; none where nothing is left of it."""
        prepared = self.prepared(text)
        if prepared is None:
            return []
        found = [self._chunk(part) for part in self._joined(self._pieces(prepared.strip(), max_tokens), max_tokens)]
        return [chunk for chunk in found if chunk is not None]

    def prepared(self, text: str) -> str | None:
        """A text by the rules; None where nothing is left of it."""
        rules, text = self._rules, text.strip()
        if rules.replacements:
            text = _STRAY.sub(r"\1", " ".join(text.translate(self._table).split()))
        if not text:
            return None
        text = text.replace("\n", " ").replace("\r", " ").replace("  ", " ")
        if rules.drops_semicolons:
            text = text.replace(";", ",")
        if rules.capitalizes and not text[0].isupper():
            text = text[0].upper() + text[1:]
        if rules.ends_sentences:
            text = _with_end(text)
        if rules.pads_short and len(text.split()) < _PAD_BELOW:
            text = _PADDING + text
        return text

    def _chunk(self, text: str) -> TextChunk | None:
        spoken = self.prepared(text)
        if spoken is None:
            return None
        words = len(spoken.split())
        tail = self._rules.tail if self._rules.tail is not None else 5 if words <= _FEW_WORDS else 3
        return TextChunk(spoken, tuple(self._encode(spoken)), tail)

    def _pieces(self, text: str, max_tokens: int) -> Iterable[tuple[int, str]]:
        """Sentences with their numbers of ids; those that are too long divided at their clauses."""
        for ids in _cut(self._encode(text), self._sentence_ends, self._splits_number):
            sentence = self._tokenizer.decode(ids)
            if len(ids) <= max_tokens:
                yield len(ids), sentence
                continue
            clauses = _cut(self._encode(sentence.strip()), self._clause_ends)
            if len(clauses) == 1:
                clauses = [ids]
            for clause in clauses:
                yield from self._within_limit(clause)

    def _within_limit(self, ids: list[int]) -> Iterable[tuple[int, str]]:
        text = self._tokenizer.decode(ids)
        if len(ids) <= MOST_TOKENS:
            yield len(ids), text
            return
        words = [word[at : at + _LONGEST_WORD] for word in text.split() for at in range(0, len(word), _LONGEST_WORD)]
        part: list[str] = []
        for word in words:
            if part and len(self._encode(" ".join([*part, word]))) > MAX_TOKENS:
                yield len(self._encode(" ".join(part))), " ".join(part)
                part = []
            part.append(word)
        yield len(self._encode(" ".join(part))), " ".join(part)

    def _joined(self, pieces: Iterable[tuple[int, str]], max_tokens: int) -> Iterable[str]:
        """Pieces put together while they stay within the number of ids."""
        text, count = "", 0
        for size, piece in pieces:
            if text and count + size > max_tokens:
                yield text.strip()
                text, count = "", 0
            text, count = f"{text} {piece}" if text else piece, count + size
        if text:
            yield text.strip()

    def _splits_number(self, ids: list[int], index: int) -> bool:
        """Tell whether a cut before `index` would be within a number such as 3.14."""
        before, behind = self._tokenizer.decode(ids[:index]), self._tokenizer.decode(ids[index:])
        return len(before) > 1 and before[-1] == "." and before[-2].isdigit() and behind[:1].isdigit()

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids


def _cut(
    ids: list[int], ends: frozenset[int], keeps: Callable[[list[int], int], bool] | None = None
) -> list[list[int]]:
    """Ids cut behind each run of `ends`, except where `keeps` says that they belong together."""
    cuts, ended = [0], False
    for index, each in enumerate(ids):
        if each not in ends and ended and not (keeps is not None and keeps(ids, index)):
            cuts.append(index)
        ended = each in ends
    return [ids[start:stop] for start, stop in zip(cuts, [*cuts[1:], len(ids)], strict=True)]


def _with_end(text: str) -> str:
    """A text with the mark that ends a sentence: in place of a weak one, else behind all closing quotes."""
    core = text.rstrip(_CLOSERS + " ")
    if not core or core[-1] in _ENDS:
        return text
    if core[-1] in _WEAK:
        return f"{core.rstrip(_WEAK + ' ')}.{text[len(core) :].strip()}"
    return f"{text}."
