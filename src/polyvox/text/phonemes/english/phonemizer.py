"""English text to phonemes: dictionary, inflection, heteronyms, weak forms, acronyms, and G2P for all other words."""

import logging
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import groupby
from typing import Final

from polyvox.text.markup.markup import Insert
from polyvox.text.phonemes.alphabet import ENGLISH_CONSONANTS, ENGLISH_VOWELS, PUNCTUATION
from polyvox.text.phonemes.base import split_phonemes, spoken_insert
from polyvox.text.phonemes.english import g2p
from polyvox.text.phonemes.english.capitals import is_shouted_initialism
from polyvox.text.phonemes.english.folding import folded, romanised
from polyvox.text.phonemes.english.heteronyms import role_of
from polyvox.text.phonemes.english.initialisms import is_spelled
from polyvox.text.phonemes.english.lexicon import Lexicon, Variant, lexicon
from polyvox.text.phonemes.english.roles import Role
from polyvox.text.phonemes.english.stress import unstressed
from polyvox.text.phonemes.english.tokens import TextToken, TokenKind, tokens
from polyvox.text.phonemes.english.word_classes import NEVER_AFTER_ARTICLE, OBJECTS
from polyvox.text.phonemes.english.words import WordContext, WordPhonemizer
from polyvox.text.phonemes.marks import punctuation, spoken_sign
from polyvox.text.spoken import Spoken, SpokenWord
from polyvox.text.tracked import TrackedText

_log = logging.getLogger(__name__)
_PLAIN_WORD: Final = re.compile(r"[A-Za-z]+|\d+")
# The voices learned the American flap as T, and a glottal stop as the t that it stands for.
# Names that are a verb where an object follows: "Polish the table."
_OPENING_VERBS: Final = frozenset(("Polish",))
_AS_TRAINED: Final = str.maketrans({"ɾ": "T", "ʔ": "t"})


_BEHIND_LETTER: Final = (["one", "c"], ["not", "equal"], ["less", "than"], ["greater", "than"])
"""The sounds of a quantity named "a", and of a vitamin."""


class NextSound(Enum):
    """The sound that follows a word, which decides its weak form."""

    BREAK = 0
    VOWEL = 1
    CONSONANT = 2


class EnglishPhonemizer:
    """Reads English of one variant, `us` or `gb`."""

    def __init__(self, variant: Variant = "us") -> None:
        self._lexicon = lexicon(variant)
        self._words = WordPhonemizer(self._lexicon, g2p.load(variant))

    def __call__(self, text: TrackedText, inserts: Sequence[Insert]) -> list[Spoken]:
        found = tokens(text, inserts)
        sentence = _Sentence(found)
        spoken: list[Spoken] = []
        following: int = len(text)
        ahead = NextSound.BREAK
        for index in range(len(found) - 1, -1, -1):
            token = found[index]
            parts = self._spoken(text, sentence, index, ahead)
            if not parts:
                continue
            parts[-1] = _spaced(parts[-1], text.text[token.end : following], spoken)
            spoken.extend(reversed(parts))
            following = token.start
            ahead = _ahead(parts, ahead)
        spoken.reverse()
        return spoken

    def _spoken(self, text: TrackedText, sentence: "_Sentence", index: int, ahead: NextSound) -> list[Spoken]:
        token = sentence.tokens[index]
        if token.insert is not None:
            return [_as_trained(spoken_insert(token.insert, self._plain))]
        if token.kind is TokenKind.HAN:
            return list(_han(text[token.start : token.end]))
        if token.kind is TokenKind.FOREIGN:
            return self._said(text, token, _foreign_words(token.text))
        if token.kind is TokenKind.MARK:
            return self._mark(text, token)
        return self._said(text, token, [token.text], partial(self._run, sentence, index, ahead))

    def _plain(self, word: str) -> str:
        run = folded(word)
        return self._words.read(run) if run.strip("'-") else ""

    def _said(
        self, text: TrackedText, token: TextToken, words: list[str], read: Callable[[str], str] | None = None
    ) -> list[Spoken]:
        """One spoken word for each separate word; all have the token's span."""
        span = text.span(token.start, token.end)
        spoken: list[Spoken] = [
            SpokenWord(word, sound, span, True)
            for word in words
            for phonemes in [(read or self._plain)(word)]
            for sound in split_phonemes(phonemes.translate(_AS_TRAINED))
        ]
        if not spoken:
            _log.debug("nothing to say for %r", token.text)
        return spoken

    def _mark(self, text: TrackedText, token: TextToken) -> list[Spoken]:
        before, after = text.text[token.start - 1 : token.start], text.text[token.end : token.end + 1]
        sign = spoken_sign(token.text, before, after)
        if sign:
            return self._said(text, token, sign.split())
        symbol = punctuation(token.text, before, after)
        if symbol:
            return [SpokenWord(symbol, symbol, text.span(token.start, token.end), False)]
        return self._said(text, token, _compatible_words(token.text[0]))

    def _run(self, sentence: "_Sentence", index: int, ahead: NextSound, text: str) -> str:
        word = self._folded(text)
        if word in _OPENING_VERBS and sentence.following(index) in OBJECTS:
            word = word.lower()
        if not word.strip("'-"):
            return ""
        weak = self._weak(word, sentence, index, ahead)
        if weak:
            return weak
        entry = self._lexicon.find(word)
        role = Role.PLAIN if isinstance(entry, str) else role_of(sentence.words, index)
        shouted = sentence.is_shouted and not is_shouted_initialism(word, sentence.words, index)
        called = is_spelled(word, sentence.words, index) if len(word) > 1 and not shouted and word.isupper() else None
        if called is not None:
            return self._words.called(word) if called else self._words.stressed(word)
        return self._words.read(word, WordContext(role, ahead is NextSound.BREAK, shouted))

    def _folded(self, text: str) -> str:
        """The word in plain letters, unless it is listed with its accents; an accented end is heard."""
        if text.isascii() or self._lexicon.find(text) is not None:
            return text
        plain = folded(text)
        return f"{plain[:-1]}ay" if text[-1] in "éÉ" and self._lexicon.find(plain) is None else plain

    def _weak(self, word: str, sentence: "_Sentence", index: int, ahead: NextSound) -> str:
        """The sound of the little words that lean on what follows them; nothing for all others."""
        lower = word.lower() if word[1:].islower() or len(word) == 1 or sentence.is_shouted else word
        if lower == "a":
            return self._article_or_letter(word, sentence, index, ahead)
        if word == "I":
            return "ˌI"
        if lower == "des" or word == "Des":
            return "də" if sentence.following(index) == "moines" else ""
        return _weak_form(lower, ahead, self._lexicon)

    def _article_or_letter(self, word: str, sentence: "_Sentence", index: int, ahead: NextSound) -> str:
        opens = index == 0 or sentence.tokens[index - 1].kind is TokenKind.MARK or sentence.is_shouted
        compared = word == "A" and index > 0 and sentence.following(index + 1) == "than"
        compared = compared or sentence.words[index + 1 : index + 3] in _BEHIND_LETTER
        if compared or sentence.following(index) in NEVER_AFTER_ARTICLE:
            return self._lexicon.letter("a")
        if ahead is NextSound.BREAK or (word == "A" and not opens) or sentence.is_glued(index):
            return self._lexicon.letter("a")
        return "ɐ"


class _Sentence:
    """The tokens of a text, and its words in lower case for looking at neighbours."""

    __slots__ = ("is_shouted", "tokens", "words")

    def __init__(self, found: Sequence[TextToken]) -> None:
        self.tokens: Final = found
        self.words: Final = [token.text.lower().replace("’", "'") for token in found]
        runs = [token.text for token in found if token.kind is TokenKind.RUN and len(token.text) > 1]
        self.is_shouted: Final = len(runs) > 2 and 3 * sum(run.isupper() for run in runs) > 2 * len(runs)

    def following(self, index: int) -> str:
        """The next token in lower case; empty at the end."""
        return self.words[index + 1] if index + 1 < len(self.words) else ""

    def is_glued(self, index: int) -> bool:
        """Return whether the next token follows without a space, as in `a/b`."""
        return index + 1 < len(self.tokens) and self.tokens[index].end == self.tokens[index + 1].start


_WEAK: Final[Mapping[str, tuple[str, str, str]]] = {
    # before a break, a vowel, a consonant
    "the": ("ði", "ði", "ðə"),
    "an": ("ɐn", "ɐn", "ɐn"),
    "to": ("", "tʊ", "tə"),
    "in": ("ˈɪn", "ɪn", "ɪn"),
    "am": ("", "ɐm", "ɐm"),
}


def _weak_form(word: str, ahead: NextSound, words: Lexicon) -> str:
    if word == "vs":
        versus = words.find("versus")
        assert isinstance(versus, str)
        return versus
    return _WEAK[word][ahead.value] if word in _WEAK else ""


def _foreign_words(text: str) -> list[str]:
    """Words for letters of another script and for number signs, as `½` and `Ⅳ`, in whatever order they stand."""
    words: list[str] = []
    for are_numbers, chars in groupby(text, lambda char: unicodedata.category(char).startswith("N")):
        if are_numbers:
            words += [word for char in chars for word in spoken_sign(char, "", "").split() or _compatible_words(char)]
        else:
            words += romanised("".join(chars))
    return words


def _compatible_words(sign: str) -> list[str]:
    """The letters and digits that a sign is made of, where Unicode says so."""
    return _PLAIN_WORD.findall(unicodedata.normalize("NFKC", sign))


def _as_trained(part: Spoken) -> Spoken:
    if not isinstance(part, SpokenWord):
        return part
    return SpokenWord(part.text, part.phonemes.translate(_AS_TRAINED), part.span, part.space)


def _ahead(parts: Sequence[Spoken], before: NextSound) -> NextSound:
    """The sound that the words to the left are followed by."""
    first = parts[0]
    if not isinstance(first, SpokenWord):
        return NextSound.BREAK
    for symbol in unstressed(first.phonemes):
        if symbol in PUNCTUATION:
            return before if symbol in '“”"()' else NextSound.BREAK
        if symbol in ENGLISH_VOWELS:
            return NextSound.VOWEL
        if symbol in ENGLISH_CONSONANTS:
            return NextSound.CONSONANT
    return before


def _spaced(last: Spoken, gap: str, following: Sequence[Spoken]) -> Spoken:
    """The last part of a token with the space after it that the text has, or that keeps two words apart."""
    if not isinstance(last, SpokenWord):
        return last
    neighbour = following[-1] if following else None
    apart = isinstance(neighbour, SpokenWord) and not neighbour.is_punctuation and not last.is_punctuation
    space = apart or any(char.isspace() for char in gap)
    return SpokenWord(last.text, last.phonemes, last.span, space)


def _han(text: TrackedText) -> list[SpokenWord]:
    from polyvox.text.phonemes.chinese import han_words  # costs a second to load, and few texts need it

    return han_words(text)
