"""Numbers that are read digit by digit in groups: identity cards, telephones, accounts, cards, postcodes, plates."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.english import numbers as english
from polyvox.text.normalize.malay.context import last_words, word_before
from polyvox.text.normalize.malay.numbers import code, spelled
from polyvox.text.tracked import TrackedText


@dataclass(frozen=True, slots=True)
class Speller:
    """Words of one language for digits, the plus of a country's code, and the other keys of a telephone."""

    spelled: Callable[[str], str]
    code: Callable[[str], str]
    plus: str
    star: str
    hash: str
    either: str
    ending: str


MALAY: Final = Speller(spelled, code, "tambah", "bintang", "hash", "atau", "berakhir")
ENGLISH: Final = Speller(english.spelled, english.code, "plus", "star", "hash", "or", "ending in")

_START: Final = r"(?<![\w./$+-])(?<!\d,)"
_END: Final = r"(?![\w/-]|[.,]\d)"
_IDENTITY: Final = re.compile(rf"{_START}(\d{{6}})[ -](\d\d)[ -](\d{{4}}|[xX*]{{4}}){_END}")
_BARE_IDENTITY: Final = re.compile(rf"{_START}(\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))([0-8]\d)(\d{{4}}){_END}")
# A bracket is the number's own only where it closes behind the code.
_OPEN: Final = r"(?:\((?=\+?\d{1,3}\)))?"
_COUNTRY: Final = rf"(?P<country>{_OPEN}\+? ?60\)?[ -]?(?:\(0\))?|{_OPEN}\+6\)?[ -]?(?=0)|6-(?=0))"
_MOBILE: Final = re.compile(
    rf"{_START}(?:{_COUNTRY}0?|{_OPEN}0)(?P<area>1\d)\)?[ -]?(?P<first>\d{{3,4}})[ -]?(?P<last>\d{{4}}){_END}"
)
_LANDLINE: Final = re.compile(
    rf"{_START}(?:{_COUNTRY}0?|{_OPEN}0)(?:(?P<area>3)\)?[ -]?(?P<first>\d{{4}})[ -]?(?P<last>\d{{4}})"
    r"|(?P<area2>[4-79])\)?[ -]?(?P<first2>\d{3})[ -]?(?P<last2>\d{4})"
    rf"|(?P<area3>8\d)\)?[ -]?(?P<first3>\d{{3}})[ -]?(?P<last3>\d{{3}})){_END}"
)
_SERVICE: Final = re.compile(rf"{_START}1[ -]?[36789]00(?:[ -]?\d){{6}}{_END}")
_INTERNATIONAL: Final = re.compile(rf"{_START}\+\d[\d ().-]{{6,20}}\d{_END}")
_LOCAL: Final = re.compile(rf"{_START}0\d{{1,2}}(?:[ -]\d{{2,5}}){{2,4}}{_END}")
# Several numbers in a row, parted by a slash; the later ones may be only their last digits.
_NEXT_PHONE: Final = re.compile(r"(?<=\d{4}) ?[/@] ?(?=\(?(?:\+?60|0)\)?[ -]?\d(?:[ -]?\d){6,9}(?!\d))")
_OTHER_ENDS: Final = re.compile(
    rf"{_START}(?P<phone>\(?0\d{{1,2}}\)?[ -]?\d{{3,4}} ?\d{{4}})(?P<ends>(?:/\d{{1,4}}(?!\d))++)(?![\w/])"
)
_USSD: Final = re.compile(r"(?<![\w*])\*\d{1,4}(?:\*\d{1,20}){0,6}#(?!\w)|(?<=[a-z] )\*\d{2,4}\*(?=[ .,]|$)")
_DIALS: Final = frozenset("dail dial mendail menekan press taip tekan type".split())
_SHORT_CODE: Final = re.compile(r"(?<=[A-Za-z:] )\d{3,5}(?!\w|[.,:/]\d|-\d)")
_EMERGENCIES: Final = frozenset("103 112 991 994 997 999 15999".split())
_RESCUERS: Final = frozenset("ambulans bomba polis".split())
_TEXTED: Final = frozenset("hantar mesej sms taip".split())
_LABELLED: Final = re.compile(r"(?<=[A-Za-z.:)] )\d{3,}(?:[ -]\d{3,}(?!\d|[.,]\d))*+(?!\w|[.,:/]\d|-\d)")
_GROUP: Final = re.compile(r"\d+")
_DIALLED_PART: Final = re.compile(r"[*#]|\d+")

_CALLS: Final = frozenset(
    "call dail ext extension hotline hubungi kecemasan mendail menghubungi samb sambungan sms talian tel "
    "telefon telepon wasap whatsapp dial phone".split()
)
_LONGEST_GROUP: Final = 4
_LONGEST_UNBROKEN: Final = 6


def read_identities(text: TrackedText, speller: Speller) -> TrackedText:
    """Numbers of identity cards, written with hyphens or without."""

    def groups(match: re.Match[str]) -> str:
        return ", ".join(_masked(group, speller) for group in match.groups())

    return text.sub(_IDENTITY, groups).sub(_BARE_IDENTITY, groups)


def read_phones(text: TrackedText, speller: Speller) -> TrackedText:
    """Mobile, fixed, toll-free and foreign numbers, and short ones behind a word that dials them."""

    def own(match: re.Match[str]) -> str:
        return _malaysian(match, speller)

    def called(match: re.Match[str]) -> str | None:
        label = word_before(match).rstrip(".")
        named = label[:1].isupper() and bool(_CALLS & last_words(match, reach=16))
        return in_groups(match.group(), speller) if named or label.lower() in _CALLS else None

    def ends(match: re.Match[str]) -> str:
        others = (speller.spelled(end) for end in match["ends"][1:].split("/"))
        return f" {speller.either} ".join((match["phone"], *others))

    text = text.sub(_USSD, lambda match: _dialled(match, speller))
    text = text.sub(_SHORT_CODE, lambda match: _short_code(match, speller))
    text = text.sub(_NEXT_PHONE, f" {speller.either} ").sub(_OTHER_ENDS, ends)
    text = text.sub(_MOBILE, own).sub(_LANDLINE, own)
    text = text.sub(_SERVICE, lambda match: _service(match.group(), speller))
    for pattern in (_INTERNATIONAL, _LOCAL):
        text = text.sub(pattern, lambda match: in_groups(match.group(), speller))
    return text.sub(_LABELLED, called)


def _masked(group: str, speller: Speller) -> str:
    return speller.spelled(group) if group.isdigit() else " ".join("X" * len(group))


def _malaysian(match: re.Match[str], speller: Speller) -> str:
    found = {name.rstrip("23"): part for name, part in match.groupdict().items() if part}
    country = "".join(_GROUP.findall(found.get("country", "")))
    trunk = "" if country.startswith("60") else "0"
    groups = [*([country[:2]] if country else []), trunk + found["area"], found["first"], found["last"]]
    plus = f"{speller.plus} " if "+" in found.get("country", "") else ""
    return plus + ", ".join(speller.spelled(group) for group in groups)


def _dialled(match: re.Match[str], speller: Speller) -> str | None:
    """A code of stars and digits; without its closing hash only where a word says that it is dialled."""
    written = match.group()
    if not written.endswith("#") and word_before(match).lower() not in _DIALS:
        return None
    signs = {"*": speller.star, "#": speller.hash}
    return " ".join(signs.get(part) or speller.code(part) for part in _DIALLED_PART.findall(written))


def _short_code(match: re.Match[str], speller: Speller) -> str | None:
    """A number that is known to everyone, or one that a message is sent to."""
    before = last_words(match)
    known = match.group() in _EMERGENCIES and before & (_CALLS | _RESCUERS)
    texted = word_before(match).lower() in ("ke", "kepada", "to") and before & _TEXTED
    return speller.spelled(match.group()) if known or texted else None


def _service(number: str, speller: Speller) -> str:
    digits = "".join(_GROUP.findall(number))
    return ", ".join(speller.spelled(group) for group in (digits[:4], digits[4:6], digits[6:]))


def in_groups(number: str, speller: Speller) -> str:
    """As the writer grouped the digits; a long group is broken up."""
    groups: list[str] = []
    for group in _GROUP.findall(number):
        size = len(group) if len(group) <= _LONGEST_UNBROKEN else _LONGEST_GROUP
        groups += (group[start : start + size] for start in range(0, len(group), size))
    plus = f"{speller.plus} " if number[0] == "+" else ""
    return plus + ", ".join(speller.spelled(group) for group in groups)
