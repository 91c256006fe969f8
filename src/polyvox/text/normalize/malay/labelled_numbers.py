"""Numbers that name something, read digit by digit: accounts, cards, bookings, invoices, codes, postcodes, plates."""

import re
from typing import Final

from polyvox.text.normalize.malay.context import last_words, word_after, word_before
from polyvox.text.normalize.malay.digit_groups import Speller, in_groups
from polyvox.text.tracked import TrackedText

_START: Final = r"(?<![\w./$+-])(?<!\d,)"
_END: Final = r"(?![\w/-]|[.,]\d)"
_CARD: Final = re.compile(rf"{_START}\d{{4}}(?P<gap>[ -])(?:\d{{4}}(?P=gap)){{2}}\d{{1,4}}{_END}")
_COVERED: Final = re.compile(r"(?<![^\W_])(?P<cover>[xX]{2,16}|[*•]{2,16})[ -]?(?P<digits>\d{3,6})(?!\w|[.,]\d)")
_FIGURE: Final = re.compile(r"(?<=[\w.:)#] )(?:\d{3,}+(?:[ -]\d++)*+(?!\w|[.,:]\d|-\d)|\d{1,4}(?:-\d++){2,}+(?![\w-]))")
_POSTCODE: Final = re.compile(r"(?:(?<=, )|(?<=,)|(?<=\n)|^)\d{5}(?=,? [A-Z][A-Za-z])", re.MULTILINE)
_LONG: Final = re.compile(r"(?<![\w./-])(?<!\d,)\d{10,}(?!\w|[.,]\d)")
_PLATE: Final = re.compile(
    r"(?<![\w-])(?P<letters>[A-Z]{1,3}) ?(?P<digits>\d{1,4})(?: ?(?P<last>[A-Z]))?(?!\w|[.,]\d|-)"
)
_SPACES: Final = re.compile(r" \d")
_CLAUSE: Final = re.compile(r"[,;!?\n(]|\. ")
_WORD: Final = re.compile(r"[A-Za-z]+")
_REACH: Final = 40
_MOST_BETWEEN: Final = 4

# Behind one of these a figure of three digits or more is a name.
_LABELS: Final = frozenset(
    (
        "acc account akaun berkunci biller booking code cvc cvv id invois invoice kod laluan matrik matrix otp pasport "
        "passport password pin port poskod postcode receipt reference ref resit ruj rujukan siri serial tac tracking"
    ).split()
)
# Behind these, one of four digits or more, unless the word behind is counted by it.
_COUNTABLE: Final = frozenset(
    "berakhir berakhiran ending ets flight kad komuter ktm kwsp order pesanan polisi tempahan ticket tiket".split()
)
_NUMBERED: Final = frozenset("no nombor number".split())
_COUNTED: Final = frozenset(
    (
        "biji bilion bulan buah bungkus ekor hari helai jam juta kali keping kes kg kilometer km langkah liter mata "
        "meter minit naskhah orang pax pcs pelanggan pelajar peserta peratus ratus ribu ringgit sen set tahun tan unit"
    ).split()
)
_QUANTIFIED: Final = frozenset("berjumlah hampir jumlah kira lebih melebihi sebanyak seramai".split())
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_PLATE_WORDS: Final = frozenset("berdaftar bernombor daftar pendaftaran plat plate registration".split())
_VEHICLES: Final = frozenset("bas kereta lori motosikal teksi van".split())
_PLATE_DIGITS: Final = 4
_ROOM_DIGITS: Final = 4


def read_covered(text: TrackedText, speller: Speller) -> TrackedText:
    """The last digits of a number whose others are hidden, as banks write them: "xxxx1234"."""

    def covered(match: re.Match[str]) -> str:
        told = word_before(match).lower() in ("berakhir", "berakhiran", "in")
        return ("" if told else f"{speller.ending} ") + speller.spelled(match["digits"])

    return text.sub(_COVERED, covered)


def read(text: TrackedText, speller: Speller) -> TrackedText:
    """Cards, accounts, codes, postcodes, number plates, and figures too long to be a count."""

    def labelled(match: re.Match[str]) -> str | None:
        return in_groups(match.group(), speller) if _names(match) else None

    def plate(match: re.Match[str]) -> str | None:
        if not _is_plate(match):
            return None
        letters = [*match["letters"], speller.spelled(match["digits"]), match["last"] or ""]
        return " ".join(letters).rstrip()

    text = text.sub(_CARD, lambda match: in_groups(match.group(), speller)).sub(_PLATE, plate)
    text = text.sub(_POSTCODE, lambda match: speller.spelled(match.group())).sub(_FIGURE, labelled)
    return text.sub(_LONG, lambda match: None if match.group().endswith("000") else in_groups(match.group(), speller))


def _names(match: re.Match[str]) -> bool:
    """Return whether the words before the figure, within its clause, make it the name of something."""
    before = match.string[max(0, match.start() - _REACH) : match.start()]
    clause = _CLAUSE.split(before)[-1]
    words = [word.lower() for word in _WORD.findall(clause)][-_MOST_BETWEEN:]
    written = match.group()
    if word_after(match).lower() in _COUNTED or _QUANTIFIED.intersection(words):
        return False
    if words[-2:] == ["peti", "surat"] or (words[-1:] == ["bilik"] and len(written) <= _ROOM_DIGITS):
        return True
    if words[-1:] == ["port"] and written.endswith("000"):
        return False
    if _LABELS.intersection(words):
        return _YEAR.fullmatch(written) is None or words[-1] in _LABELS
    long = len(written) > 4 or (len(written) == 4 and not (words[-1:] != ["no"] and _YEAR.fullmatch(written)))
    spaced = _SPACES.search(written) is not None
    return long and not spaced and bool(_COUNTABLE.intersection(words) or _NUMBERED.intersection(words))


def _is_plate(match: re.Match[str]) -> bool:
    before = last_words(match)
    whole = len(match["digits"]) == _PLATE_DIGITS and match["letters"] not in ("RM", "KM")
    return bool(_PLATE_WORDS & before) or (whole and word_before(match).lower() in _VEHICLES)
