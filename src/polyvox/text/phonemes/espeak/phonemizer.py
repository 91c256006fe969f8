"""Languages phonemized by espeak-ng: Spanish, French, Hindi, Italian, Brazilian Portuguese."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from polyvox.text.markup.markup import Insert, insert_at
from polyvox.text.phonemes.alignment import align_to_words
from polyvox.text.phonemes.alphabet import only_alphabet
from polyvox.text.phonemes.base import split_phonemes, spoken_insert
from polyvox.text.phonemes.espeak.choice import VOICES, Espeak, open_espeak
from polyvox.text.phonemes.espeak.lines import cleaned
from polyvox.text.phonemes.espeak.spelling import respelled
from polyvox.text.phonemes.marks import punctuation
from polyvox.text.spoken import Spoken, SpokenWord
from polyvox.text.tracked import TrackedText

_log = logging.getLogger(__name__)
# espeak-ng answers a line with a line as long as the line is one clause to it, which a long one is not.
_MAX_LINE_WORDS: Final = 40
_MAX_LINE_CHARS: Final = 400
_MAX_WORD_CHARS: Final = 80

_MARKS: Final = r";:,.!?¡¿—–…\"«»„“”‟‘‹›(){}\[\]<>|/\\*_~`^=。，、！？；：।॥؟،"
_PIECE: Final = re.compile(
    rf"(?P<insert>[\ue000-\uf8ff])|(?P<word>(?:[^\s\ue000-\uf8ff{_MARKS}]|(?<=\d)[.,](?=\d)){{1,{_MAX_WORD_CHARS}}})|(?P<mark>\S)"
)
_SYMBOLS: Final = (
    ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^z", "ʣ"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("o^ʊ", "O"), ("ə^ʊ", "Q"), ("s^s", "S"),
    ("t^s", "ʦ"), ("t^ʃ", "ʧ"), ("ɔ^ɪ", "Y"), ("^", ""), ("-", ""),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Piece:
    kind: str
    text: str
    start: int
    end: int


class EspeakPhonemizer:
    """One language by espeak-ng; whole clauses are phonemized, so that words may be joined."""

    def __init__(self, language: str, program: str) -> None:
        self._language: Final = language
        self._espeak: Final[Espeak] = open_espeak(program, VOICES[language], language, tie="^")

    def __call__(self, text: TrackedText, inserts: Sequence[Insert]) -> list[Spoken]:
        pieces = [_Piece(m.lastgroup or "", m.group(), *m.span()) for m in _PIECE.finditer(text.text)]
        clauses = _clauses(pieces)
        sounds = self._sounds([[piece.text for piece in clause] for clause in clauses])
        words = {
            (group[0].start, group[-1].end): phonemes
            for clause, answer in zip(clauses, sounds, strict=True)
            for group, phonemes in _joined(clause, answer)
        }
        return self._assembled(text, pieces, inserts, words)

    def _assembled(
        self,
        text: TrackedText,
        pieces: Sequence[_Piece],
        inserts: Sequence[Insert],
        words: dict[tuple[int, int], str],
    ) -> list[Spoken]:
        """Words, marks and inserts in the order of the text."""
        placed: list[tuple[int, int, Spoken]] = []
        for (start, end), phonemes in words.items():
            span = text.span(start, end)
            placed += [
                (start, end, SpokenWord(text.text[start:end], sound, span, True)) for sound in split_phonemes(phonemes)
            ]
        for piece in pieces:
            insert = insert_at(piece.text, inserts) if piece.kind == "insert" else None
            if insert is not None:
                placed.append((piece.start, piece.end, spoken_insert(insert, self._plain)))
            elif piece.kind == "mark":
                around = text.text[piece.start - 1 : piece.start], text.text[piece.end : piece.end + 1]
                symbol = punctuation(piece.text, *around)
                if symbol:
                    span = text.span(piece.start, piece.end)
                    placed.append((piece.start, piece.end, SpokenWord(symbol, symbol, span, False)))
        placed.sort(key=lambda item: item[0])
        return _spaced(placed, text.text)

    def _plain(self, word: str) -> str:
        line = cleaned(word)
        return self._phonemize([line])[0] if line else ""

    def _sounds(self, clauses: Sequence[Sequence[str]]) -> list[list[str]]:
        """The phonemes of every word of every clause; an empty string where a word runs into its neighbour."""
        lines = [cleaned(respelled(" ".join(clause), self._language)) for clause in clauses]
        answers = [answer.split() for answer in self._phonemize(lines)]
        return [self._per_word(clause, answer) for clause, answer in zip(clauses, answers, strict=True)]

    def _per_word(self, clause: Sequence[str], answer: Sequence[str]) -> list[str]:
        if len(clause) == len(answer):
            return list(answer)
        if len(clause) == 1:
            return [" ".join(answer)]
        alone = self._phonemize([cleaned(word) for word in clause])
        return align_to_words(answer, [sound.split() for sound in alone])

    def _phonemize(self, lines: Sequence[str]) -> list[str]:
        return [_to_alphabet(line) for line in self._espeak.phonemize(lines)]


def _clauses(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """Runs of words between marks and inserts, cut where they grow too long for one line."""
    clauses: list[list[_Piece]] = [[]]
    for piece in pieces:
        clause = clauses[-1]
        if piece.kind != "word":
            clauses.append([])
        elif not cleaned(piece.text):
            _log.debug("nothing to say for %r", piece.text)
        elif len(clause) >= _MAX_LINE_WORDS or sum(len(word.text) for word in clause) > _MAX_LINE_CHARS:
            clauses.append([piece])
        else:
            clause.append(piece)
    return [clause for clause in clauses if clause]


def _joined(clause: Sequence[_Piece], sounds: Sequence[str]) -> list[tuple[list[_Piece], str]]:
    """The words with their phonemes; one that has none of its own goes with the word before it, or after."""
    groups: list[tuple[list[_Piece], str]] = []
    for piece, sound in zip(clause, sounds, strict=True):
        if groups and (not sound or not groups[-1][1]):
            before, earlier = groups.pop()
            groups.append(([*before, piece], earlier or sound))
        else:
            groups.append(([piece], sound))
    return groups


def _spaced(placed: Sequence[tuple[int, int, Spoken]], text: str) -> list[Spoken]:
    """The parts in order, each with the space that follows it in the text or that keeps two words apart."""
    spoken: list[Spoken] = []
    for (_, end, part), following in zip_longest(placed, placed[1:]):
        if isinstance(part, SpokenWord):
            gap = text[end : following[0]] if following else text[end:]
            after = following[2] if following else None
            apart = isinstance(after, SpokenWord) and not after.is_punctuation and not part.is_punctuation
            part = SpokenWord(part.text, part.phonemes, part.span, apart or any(char.isspace() for char in gap))
        spoken.append(part)
    return spoken


def _to_alphabet(line: str) -> str:
    for theirs, ours in _SYMBOLS:
        line = line.replace(theirs, ours)
    return only_alphabet(line).strip()
