"""Japanese syllables in the model's alphabet, from hiragana."""

from collections.abc import Iterator
from typing import Final

_VOWELS: Final = ("a", "i", "ɯ", "e", "o")


def _row(kana: str, *sounds: str) -> Iterator[tuple[str, str]]:
    """Five kana of one row with their sounds; one sound stands for the consonant before all five vowels."""
    full = sounds if len(sounds) == len(kana) else tuple(sounds[0] + vowel for vowel in _VOWELS)
    return zip(kana, full, strict=True)


def _glides(kana: str, consonant: str) -> Iterator[tuple[str, str]]:
    """A kana with small ya, yu, yo or e behind it; after a glide u is fronted."""
    return ((kana + small, consonant + vowel) for small, vowel in zip("ゃゅょぇ", "aɨoe", strict=True))


_SINGLE: Final = dict(
    [
        *_row("あいうえお", ""), *_row("ぁぃぅぇぉ", ""), *_row("かきくけこ", "ka", "kʲi", "kɯ", "ke", "ko"),
        *_row("がぎぐげご", "ɡa", "ɡʲi", "ɡɯ", "ɡe", "ɡo"), *_row("さしすせそ", "sa", "ɕi", "sɨ", "se", "so"),
        *_row("ざじずぜぞ", "ʣa", "ʥi", "zɨ", "ʣe", "ʣo"), *_row("たちつてと", "ta", "ʨi", "ʦɨ", "te", "to"),
        *_row("だぢづでど", "da", "ʥi", "zɨ", "de", "do"), *_row("なにぬねの", "na", "ɲi", "nɯ", "ne", "no"),
        *_row("はひふへほ", "ha", "çi", "ɸɯ", "he", "ho"), *_row("ばびぶべぼ", "ba", "bʲi", "bɯ", "be", "bo"),
        *_row("ぱぴぷぺぽ", "pa", "pʲi", "pɯ", "pe", "po"), *_row("まみむめも", "ma", "mʲi", "mɯ", "me", "mo"),
        *_row("らりるれろ", "ɾa", "ɾʲi", "ɾɯ", "ɾe", "ɾo"), *_row("ゃゅょゎ", "ja", "jɯ", "jo", "βa"),
        *_row("やゆよわ", "ja", "jɯ", "jo", "βa"), *_row("ゐゑをゔ", "i", "e", "o", "vɯ"), *_row("ゕゖ", "ka", "ke"),
    ]
)  # fmt: skip
_DOUBLE: Final = dict(
    [
        *_glides("き", "kʲ"), *_glides("ぎ", "ɡʲ"), *_glides("し", "ɕ"), *_glides("じ", "ʥ"), *_glides("ち", "ʨ"),
        *_glides("ぢ", "ʥ"), *_glides("に", "ɲ"), *_glides("ひ", "ç"), *_glides("び", "bʲ"), *_glides("ぴ", "pʲ"),
        *_glides("み", "mʲ"), *_glides("り", "ɾʲ"), ("いぇ", "je"), ("うぃ", "βi"), ("うぇ", "βe"), ("うぉ", "βo"),
        ("くぁ", "kᵝa"), ("くぃ", "kᵝi"), ("くぇ", "kᵝe"), ("くぉ", "kᵝo"), ("ぐぁ", "ɡᵝa"),
        ("ぐぃ", "ɡᵝi"), ("ぐぇ", "ɡᵝe"), ("ぐぉ", "ɡᵝo"), ("つぁ", "ʦa"), ("つぃ", "ʦʲi"),
        ("つぇ", "ʦe"), ("つぉ", "ʦo"), ("てぃ", "tʲi"), ("てゅ", "tʲɨ"), ("でぃ", "dʲi"),
        ("でゅ", "dʲɨ"), ("とぅ", "tɯ"), ("どぅ", "dɯ"), ("ふぁ", "ɸa"), ("ふぃ", "ɸʲi"),
        ("ふぇ", "ɸe"), ("ふぉ", "ɸo"), ("ふゅ", "ɸʲɨ"), ("ふょ", "ɸʲo"), ("ゔぁ", "va"),
        ("ゔぃ", "vʲi"), ("ゔぇ", "ve"), ("ゔぉ", "vo"), ("ゔゅ", "bʲɨ"), ("ゔょ", "bʲo"),
    ]
)  # fmt: skip
# The syllabic n takes the place of what follows it.
_N_BEFORE: Final = (("mpb", "m"), ("kɡ", "ŋ"), ("ɲʨʥ", "ɲ"), ("ntdɾz", "n"))


def hiragana(text: str) -> str:
    """Katakana turned into hiragana; all else stays."""
    return "".join(chr(ord(char) - 0x60) if "ァ" <= char <= "ヶ" else char for char in text)


def kana_phonemes(kana: str) -> str:
    """The sounds of hiragana; characters that are none have no sound."""
    sounds: list[str] = []
    place = 0
    while place < len(kana):
        pair, char = kana[place : place + 2], kana[place]
        sounds.append(_DOUBLE.get(pair) or _sound(char, kana[place + 1 : place + 3]))
        place += 2 if pair in _DOUBLE else 1
    return "".join(sounds)


def _sound(char: str, following: str) -> str:
    if char == "ー":
        return "ː"
    if char == "っ":
        return "ʔ"
    if char == "ん":
        ahead = (_DOUBLE.get(following) or _SINGLE.get(following[:1], ""))[:1]
        return next((nasal for sounds, nasal in _N_BEFORE if ahead and ahead in sounds), "ɴ")
    return _SINGLE.get(char, "")
