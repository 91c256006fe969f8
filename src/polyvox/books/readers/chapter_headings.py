"""Chapter headings in plain text, told by their words and numbers."""

import re
from collections.abc import Sequence
from typing import Final

LONGEST_HEADING: Final = 90

_NUMBER_WORDS: Final = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred first second third fourth fifth "
    "sixth seventh eighth ninth tenth last "
    "satu dua tiga empat lima enam tujuh lapan delapan sembilan sepuluh sebelas pertama kedua ketiga keempat "
    "uno dos tres cuatro cinco seis siete ocho nueve diez primero segundo tercero "
    "un deux trois quatre cinq six sept huit neuf dix premier première deuxième troisième "
    "eins zwei drei vier fünf sechs sieben acht neun zehn due tre quattro cinque sei sette otto nove dieci "
    "um dois três quatro sete oito dez"
).split()
_WORD_NUMBER: Final = rf"(?:{'|'.join(_NUMBER_WORDS)})(?:[ -](?:{'|'.join(_NUMBER_WORDS)}))?"
_ROMAN: Final = r"(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_KINDS: Final = (
    "chapter|part|book|volume|act|letter|stave|canto|bab|bahagian|bagian|jilid|capítulo|capitulo|parte|libro|livro|chapitre|"
    "partie|livre|capitolo|kapitel|teil|buch|अध्याय|भाग"
)
_ALONE: Final = (
    "prologue|epilogue|preface|foreword|introduction|afterword|interlude|conclusion|acknowledge?ments|dedication|"
    "prolog|epilog|prakata|pendahuluan|penutup|pengenalan|prólogo|epílogo|prefacio|prefácio|introducción|introdução|"
    "avant-propos|préface|épilogue|prefazione|introduzione|epilogo|vorwort|nachwort|einleitung|"
    "序章|序言|序|前言|楔子|引子|尾声|尾聲|后记|後記|终章|終章|番外|プロローグ|エピローグ|まえがき|あとがき"
)
_NAMED: Final = re.compile(
    rf"(?P<kind>{_KINDS})\s+(?P<number>\d{{1,4}}|{_ROMAN}|{_WORD_NUMBER}|[०-९]{{1,4}})\b"
    r"(?P<rest>\s*(?:[.:—–-]+\s*(?P<title>\S.*)?|\((?P<bracketed>.*)\))?|\s+(?P<bare>\S.*))",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(
    rf"(?:the\s+)?(?:{_WORD_NUMBER})\s+(?:chapter|part|book)\.?|(?:{_ALONE})\s*[.:]?(?:\s*[:：—–-]\s*\S.*)?",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    r"第\s*[0-9０-９〇零一二三四五六七八九十百千两兩]{1,9}\s*[章回节節卷部篇集幕話话](?:[\s　:：.、·]*(?P<title>\S.*))?"
)
_BARE: Final = re.compile(rf"(?:(?P<roman>{_ROMAN})|(?P<digits>\d{{1,3}}))\.?")
_SENTENCE_END: Final = re.compile(r"[.。；;，,]$|[.!?。！？]\s+\S")
_ROMAN_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


def is_heading(line: str) -> bool:
    """Return whether a line alone, by its words, begins a chapter."""
    text = line.strip().strip("*_#=- \t　").strip()
    if not text or len(text) > LONGEST_HEADING:
        return False
    if _ORDINAL.fullmatch(text):
        return True
    chinese = _CHINESE.fullmatch(text)
    if chinese is not None:
        return not (chinese["title"] or "").endswith(("。", "，", "；"))
    named = _NAMED.fullmatch(text)
    if named is None:
        return False
    bare = named["bare"]
    # "Chapter 2 The Return" is a heading; "Part 2 of the plan was dull." is not.
    return bare is None or (bare[0].isupper() and _SENTENCE_END.search(bare) is None)


def bare_numbers(lines: Sequence[str]) -> frozenset[int]:
    """The indices of lines that hold a number alone and count up from 1, as chapters without a word do."""
    found: list[tuple[int, int]] = []
    for index, line in enumerate(lines):
        match = _BARE.fullmatch(line.strip())
        if match is not None:
            found.append((index, _roman_value(match["roman"]) if match["roman"] else int(match["digits"])))
    kept: list[int] = []
    expected = 1
    for index, value in found:
        if value == expected:
            kept.append(index)
            expected += 1
    return frozenset(kept) if len(kept) >= 2 else frozenset()


def _roman_value(numeral: str) -> int:
    total = 0
    for char, following in zip(numeral, (*numeral[1:], ""), strict=True):
        value = _ROMAN_VALUES[char]
        total += -value if following and _ROMAN_VALUES[following] > value else value
    return total
