"""Letter-to-sound rules: how English letters mostly sound, for words that nothing else can read."""

from collections.abc import Mapping
from typing import Final

from polyvox.text.phonemes.alphabet import ENGLISH_VOWELS, PRIMARY
from polyvox.text.phonemes.english.lexicon import Variant

_LONGEST: Final = 5
# Spellings and their American sounds; `^` binds to the start of a word, `$` to its end. The longest match wins.
_SOUNDS: Final[Mapping[str, str]] = {
    "tion": "ʃən", "sion": "ʒən", "cious": "ʃəs", "tious": "ʃəs", "cian": "ʃən", "ture$": "ʧəɹ", "augh": "ɔ",
    "ough": "O", "eigh": "A", "igh": "I", "tch": "ʧ", "dge": "ʤ", "sch": "ʃ", "^kn": "n", "^gn": "n", "^wr": "ɹ",
    "^ps": "s", "^x": "z", "^rh": "ɹ", "mb$": "m", "ch": "ʧ", "sh": "ʃ", "th": "θ", "ph": "f", "wh": "w", "ck": "k",
    "ng$": "ŋ", "ng": "ŋɡ", "nk": "ŋk", "qu": "kw", "gh": "ɡ", "zh": "ʒ", "kh": "k", "ts": "ts", "ai": "A", "ay": "A",
    "au": "ɔ", "aw": "ɔ", "ea": "i", "ee": "i", "ei": "A", "ey$": "i", "ey": "A", "eu": "ju", "ew": "u", "ie$": "i",
    "ie": "i", "oa": "O", "oe": "O", "oi": "Y", "oy": "Y", "oo": "u", "ou": "W", "ow": "W", "ue": "u", "ui": "u",
    "ar": "ɑɹ", "er": "əɹ", "ir": "ɜɹ", "or": "ɔɹ", "ur": "ɜɹ", "air": "ɛɹ", "are$": "ɛɹ", "ear": "ɪɹ", "eer": "ɪɹ",
    "ire$": "Iəɹ", "ore$": "ɔɹ", "ure$": "jʊɹ", "ble$": "bᵊl", "tle$": "tᵊl", "dle$": "dᵊl", "ple$": "pᵊl",
    "gle$": "ɡᵊl", "kle$": "kᵊl", "fle$": "fᵊl", "zle$": "zᵊl", "a$": "ə", "e$": "", "i$": "i", "o$": "O", "u$": "u",
    "y$": "i", "^y": "j", "ce": "sɛ", "ci": "sɪ", "cy": "si", "ce$": "s", "ge$": "ʤ", "ge": "ʤɛ", "gi": "ʤɪ",
    "gy": "ʤi", "es$": "z", "ed$": "d", "a": "æ", "b": "b", "c": "k", "d": "d", "e": "ɛ", "f": "f", "g": "ɡ",
    "h": "h", "i": "ɪ", "j": "ʤ", "k": "k", "l": "l", "m": "m", "n": "n", "o": "ɑ", "p": "p", "q": "k", "r": "ɹ",
    "s": "s", "t": "t", "u": "ʌ", "v": "v", "w": "w", "x": "ks", "y": "i", "z": "z",
}  # fmt: skip
_LONG: Final = {"a": "A", "e": "i", "i": "I", "o": "O", "u": "u", "y": "I"}
_BRITISH: Final = {"O": "Q", "æ": "a", "ɑɹ": "ɑː", "ɜɹ": "ɜː", "ɔɹ": "ɔː", "əɹ": "ə", "ɑ": "ɒ", "i": "iː", "u": "uː"}


def ruled(word: str, variant: Variant) -> str:
    """Phonemes for a word of the letters a to z; never empty for a word that is not."""
    word = word.lower()
    sounds: list[str] = []
    place = 0
    while place < len(word):
        letters, sound = _match(word, place)
        if not (sounds and sounds[-1] == sound and letters == 1 and word[place] == word[place - 1]):
            sounds.append(sound)
        place += letters
    return _british(_stressed(sounds)) if variant == "gb" else _stressed(sounds)


def _match(word: str, place: int) -> tuple[int, str]:
    """The number of letters that the best rule at a position takes, and their sound."""
    if _is_long(word, place):
        return 1, _LONG[word[place]]
    for size in range(min(_LONGEST, len(word) - place), 0, -1):
        part = word[place : place + size]
        ends = place + size == len(word) and (place > 0 or size > 1)
        for key in (f"^{part}" if place == 0 else "", f"{part}$" if ends else "", part):
            if key in _SOUNDS:
                return size, _SOUNDS[key]
    return 1, ""


def _is_long(word: str, place: int) -> bool:
    """A vowel before one consonant and a final e says its own name."""
    tail = word[place : place + 4]
    return len(tail) == 3 and tail[0] in _LONG and tail[1] not in "aeiouyrwx" and tail[2] == "e"


def _stressed(sounds: list[str]) -> str:
    """Stress on the first vowel of the word that is not reduced."""
    text = "".join(sounds)
    places = [index for index, symbol in enumerate(text) if symbol in ENGLISH_VOWELS]
    full = next((place for place in places if text[place] not in "əᵻ"), places[0] if places else None)
    return text if full is None else f"{text[:full]}{PRIMARY}{text[full:]}"


def _british(phonemes: str) -> str:
    for american, british in _BRITISH.items():
        phonemes = phonemes.replace(american, british)
    return phonemes
