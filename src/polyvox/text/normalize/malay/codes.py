"""Figures that name something: versions, machines' addresses, models, letters mixed with digits; and numerals."""

import re
from typing import Final

from polyvox.text.normalize.english.letters import initials_as_capitals
from polyvox.text.normalize.english.numbers import NUMBER, NUMBER_END, NUMBER_START
from polyvox.text.normalize.malay.context import capitalised_like, word_after, word_before
from polyvox.text.normalize.malay.money import SCALES
from polyvox.text.normalize.malay.numbers import cardinal, code, number, ordinal, spelled
from polyvox.text.tracked import TrackedText

_IP: Final = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)")
_VERSION: Final = re.compile(r"\b[vV](?:\. ?)?(?P<parts>\d++(?:\.\d++)*+)(?!\w)")
_DOTTED: Final = re.compile(r"(?<![\w.])(?P<parts>\d++(?:\.\d++){2,}+)(?!\w)")
_DASHED: Final = re.compile(r"(?<![\w.-])(?<!\d,)\d++(?:-\d++){2,}+(?![\w-])")
_SCALED: Final = re.compile(
    rf"{NUMBER_START}(?P<amount>{NUMBER}){NUMBER_END}(?P<scale>[kK]"
    rf"|M|mil|jt|bil|B|bn|(?<=\.\d)b|(?<=\.\d\d)b)(?!\w)"
)
_TIMES: Final = re.compile(
    rf"{NUMBER_START}(?P<amount>{NUMBER}){NUMBER_END} ?[x×](?![\w×])(?! ?[=+*^<>≤≥²³]| [-−–] ?\d)"
)
_DONE: Final = frozenset(
    "aktif bayar boleh cukup dapat datang hadir hantar isi jadi "
    "jawab lulus mahu mau muncul nak pernah pulang setuju siap"
    " sokong tahu turun undi".split()
)
_QUANTITY: Final = re.compile(r"(?<![\w.])[x×](?=\d{1,3}(?![\w.]))")
_DIMENSION: Final = re.compile(r"(?<=\d) ?[x×*] ?(?=\d)|(?<=\w) [x×] (?=\d)")
_LABELLED: Final = re.compile(r"(?<=[A-Z] )\d{3,4}(?!\w|[.,:]\d)")
_HYPHENED: Final = re.compile(r"(?<=[A-Za-z])-(?=\d)|(?<=\d)-(?=\d{1,4}[A-Za-z])")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_MIXED: Final = re.compile(r"(?<![^\W_])(?:[A-Za-z]++\d|\d++[A-Za-z])[A-Za-z0-9]*+")
_RUN: Final = re.compile(r"[A-Za-z]+|\d+")
_NAMED: Final = frozenset("AK BMW HTTP MH OD QZ".split())

_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMERAL: Final = r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![\w'&]|\.\w)"
_RANKED_NUMERAL: Final = re.compile(rf"(?<![\w-])(?P<ke>[kK]e)-(?P<numeral>{_NUMERAL})")
_NAMED_NUMERAL: Final = re.compile(rf"(?<=[A-Za-z.] ){_NUMERAL}")
_PARTS: Final = frozenset(
    (
        "bab bahagian darjah fasa fasal gred jadual jenis jilid kelas lampiran peringkat semester siri tahap tahun "
        "tingkat tingkatan unit"
    ).split()
)
# Alone these name a part by its letter.
_LETTERS: Final = frozenset("CDLM")
_RULERS: Final = frozenset(
    (
        "abdul abdullah agong ahmad albert alexander alfonso bayezid benedict benediktus carlos catherine charles "
        "dunia edward elizabeth faisal felipe franz frederick george gregorius gustaf hamid harald hassan henry "
        "hussein innosensius iskandar ivan james john joseph juan khan leo leopold louis mahmud margrethe mehmed "
        "mohammed muhammad murad mustafa napoleon nicholas osman otto paul paulus peter philip pius ptolemy rama "
        "ramses richard salman selim shah suleiman sulaiman syah urbanus vajiravudh wilhelm willem william yohanes"
    ).split()
)


def read_numerals(text: TrackedText) -> TrackedText:
    """Roman numerals behind ke-, behind the name of a part, and behind a ruler or a world war."""
    text = text.sub(_RANKED_NUMERAL, lambda match: capitalised_like(match["ke"], ordinal(_digits(match["numeral"]))))
    return text.sub(_NAMED_NUMERAL, _numeral)


def read(text: TrackedText) -> TrackedText:
    """Everything here keeps its letters and turns its digits into words."""
    text = text.sub(_IP, lambda match: " dot ".join(spelled(part) for part in match.group().split(".")))
    text = text.sub(_VERSION, lambda match: f"versi {_points(match['parts'])}")
    text = text.sub(_DOTTED, lambda match: _points(match["parts"])).sub(_DASHED, _dashed)
    text = text.sub(_LABELLED, lambda match: spelled(match.group()) if word_before(match) in _NAMED else None)
    text = text.sub(_SCALED, _scaled).sub(_DIMENSION, " kali ").sub(_QUANTITY, "kali ")
    text = text.sub(_TIMES, _times)
    return text.sub(_HYPHENED, " ").sub(_MIXED, _mixed)


def _numeral(match: re.Match[str]) -> str | None:
    numeral, before = match.group(), word_before(match).rstrip(".").lower()
    if before in _PARTS and word_before(match)[0].isupper() and numeral not in _LETTERS:
        return cardinal(_digits(numeral))
    if before in _RULERS and (numeral != "I" or word_after(match) == "" or before in ("shah", "syah")):
        return capitalised_like("K", ordinal(_digits(numeral)))
    return None


def _digits(numeral: str) -> str:
    values = [_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return str(sum(-value if value < after else value for value, after in zip(values, following, strict=True)))


def _points(parts: str) -> str:
    return " perpuluhan ".join(cardinal(part) for part in parts.split("."))


def _dashed(match: re.Match[str]) -> str:
    """Groups of digits; where one of them can only be spelled, all are."""
    groups = match.group().split("-")
    spelling = any(len(group) > 2 or group[0] == "0" for group in groups)
    return ", ".join(spelled(group) if spelling else code(group) for group in groups)


def _scaled(match: re.Match[str]) -> str | None:
    """ "20k" and "1.5M" are counts; "4K" and "7B" are names, unless their number is one that only counts have."""
    written = match["scale"]
    counted = written in ("k", "M", "mil", "jt", "bil", "bn") or any(mark in match["amount"] for mark in ".,")
    tens = len(match["amount"]) > 1 and written == "K"
    return f"{number(match['amount'])} {SCALES[written.lower()]}" if counted or tens else None


def _times(match: re.Match[str]) -> str:
    """So many times; before what people do, x is the short form of "not"."""
    refused = word_after(match).lower() in _DONE and " " in match.group()
    return f"{number(match['amount'])} {'tak' if refused else 'kali'}"


def _mixed(match: re.Match[str]) -> str:
    runs = _RUN.findall(match.group())
    return " ".join(_figure(run) if run.isdigit() else initials_as_capitals(run) for run in runs)


def _figure(digits: str) -> str:
    return cardinal(digits) if _YEAR.fullmatch(digits) else code(digits)
