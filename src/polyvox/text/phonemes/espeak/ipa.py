"""American English in espeak-ng's IPA, converted from our own phonemizer: the fall-back where the program is missing.

Our alphabet has one symbol for a diphthong or an affricate, no length marks, and the vowel of `bird` with its r. In
running text some three tokens in a hundred differ from the program's.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from polyvox.text.phonemes.alphabet import ENGLISH_VOWELS, PRIMARY
from polyvox.text.phonemes.base import Phonemizer
from polyvox.text.spoken import SpokenWord
from polyvox.text.tracked import TrackedText

_SYMBOLS: Final = str.maketrans(
    {"A": "eɪ", "I": "aɪ", "O": "oʊ", "W": "aʊ", "Y": "ɔɪ", "ʤ": "dʒ", "ʧ": "tʃ", "T": "ɾ", "ᵊ": "ə"}
)
_VOWEL: Final = f"[{''.join(sorted(ENGLISH_VOWELS))}]"
_BEFORE_VOWEL: Final = re.compile(f"[ˈˌ]?{_VOWEL}")
_BEAT: Final = re.compile(r"ˌ|(?=[aeiouæɐɑɔəɚɛɜɪʊʌᵻ])")
# In the order in which they apply. `+` stands for the vowel that a following word begins with.
_SOUNDS: Final = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        (rf"(?<={_VOWEL}|ɹ)tn(?=[zd]?\+?$)", "ʔn\u0329"),
        (rf"ɜɹ(?=[ˈˌ]?{_VOWEL}|\+)", "ɜːɹ"),
        (r"ɜɹ", "ɜː"),
        (rf"[əᵊ]ɹ(?=[ˈˌ]?{_VOWEL}|\+)", "ɚɹ"),
        (r"[əᵊ]ɹ", "ɚ"),
        (r"([ɑu])", r"\1ː"),
        (r"ɔ(?![fsθŋ]|nt|n\+?$)", "ɔː"),
        (rf"(?<=[ˈˌ])i(?!ə)|i(?=əl|[ˈˌ]{_VOWEL})", "iː"),
        (rf"^([^{_VOWEL[1:-1]}]*)i(?!ː)(?=[^{_VOWEL[1:-1]}]*$)", r"\1iː"),
        (r"\+$", ""),
    )
)
# Prefixes whose vowel is neither quite that of `bit` nor that of `but`.
_REDUCED: Final = re.compile(r"[bdr]e|e")
_REDUCED_SOUND: Final = re.compile(r"(?<=^[bdɹ])[əɪi](?=.*[ˈˌ])|^[əi](?=[^ɹ].*[ˈˌ])")
_AS_IN_FOUR: Final = re.compile(r"o(?:re|ar|ur|or)")
_WITHOUT_STRESS: Final = frozenset(
    "he her his i it it's me my she that their them these they this those we when you".split()
)
_HALF_STRESSED: Final = frozenset("about before behind beside make makes making over".split())
_BEFORE_THE: Final = {"of": "ʌv", "in": "ɪn", "on": "ɔn", "for": "fɚ", "from": "fɹʌm", "with": "wɪð", "that": "ðæt"}
_WITH_ARTICLE: Final = {"of": "əvə", "at": "æɾə", "for": "fɚɹə"}


class RuleBasedEnglish:
    """The interface of `Espeak`: a line of phonemes for each line of text."""

    def __init__(self, read: Phonemizer) -> None:
        self._read = read

    def phonemize(self, lines: Sequence[str]) -> list[str]:
        return [self._line(line) for line in lines]

    def _line(self, line: str) -> str:
        words = [word for word in self._read(TrackedText.of(line), ()) if isinstance(word, SpokenWord)]
        return _stressed(_joined([word for word in words if not word.is_punctuation]))


def _joined(words: Sequence[SpokenWord]) -> str:
    """The words with a space between them, but for the little ones that run together with an article."""
    line = ""
    leaned_on = False
    for word, following in pairwise([*words, None]):
        assert word is not None
        written, after = word.text.lower(), "" if following is None else following.text.lower()
        if leaned_on:
            leaned_on = False
        elif written in _BEFORE_THE and after == "the":
            line += _BEFORE_THE[written]
        elif written in _WITH_ARTICLE and following is not None and following.phonemes == "ɐ":
            line += f"{_WITH_ARTICLE[written]} "
            leaned_on = True
        else:
            line += f"{_sound(word, following)} "
    return line.rstrip()


def _sound(word: SpokenWord, following: SpokenWord | None) -> str:
    """One word as espeak-ng writes it before another."""
    written = word.text.lower()
    links = following is not None and _BEFORE_VOWEL.match(following.phonemes) is not None
    if written == "the":
        return "ðɪ" if links else "ðə"
    sound = _by_spelling(written, word.phonemes)
    if written in ("it", "at") and links:
        sound = sound.removesuffix("t") + "ɾ"
    sound += "+" * links
    for pattern, ipa in _SOUNDS:
        sound = pattern.sub(ipa, sound)
    return sound.translate(_SYMBOLS)


def _by_spelling(written: str, sound: str) -> str:
    """Corrections that depend on the spelling."""
    if written in _WITHOUT_STRESS:
        sound = sound.replace("ˌ", "")
    elif written in _HALF_STRESSED:
        sound = sound.replace("ˈ", "ˌ")
    if _AS_IN_FOUR.search(written):
        sound = sound.replace("ɔɹ", "oːɹ")
    if written.startswith("a") and sound.startswith("ə") and not sound.startswith("əɹ"):
        return f"ɐ{sound[1:]}"
    return _REDUCED_SOUND.sub("ᵻ", sound, count=1) if _REDUCED.match(written) else sound


def _stressed(line: str) -> str:
    """A clause has a beat: on its last word where there is none."""
    if PRIMARY in line or not line:
        return line
    before, space, last = line.rpartition(" ")
    return before + space + _BEAT.sub(PRIMARY, last, count=1)
