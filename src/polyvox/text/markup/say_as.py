"""Texts that SSML's `say-as` marks: rewritten so that a text normaliser reads them as they are meant."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

_MONTHS: Final = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
_DATE: Final = re.compile(r"\s*(\d{1,4})\s*[-/.\s]\s*(\d{1,2})(?:\s*[-/.\s]\s*(\d{1,4}))?\s*")
_GROUPS: Final = re.compile(r"[+\d*#]+")


def said_as(text: str, kind: str, form: str, language: str) -> str | None:
    """The text as it is to be read; None where the kind is not known."""
    reading = _KINDS.get(kind.strip().lower())
    return None if reading is None else reading(text, form.strip().lower(), language)


def _characters(text: str, form: str, language: str) -> str:
    return " ".join(char.upper() if char.isascii() else char for char in text if not char.isspace())


def _digits(text: str, form: str, language: str) -> str:
    return " ".join(char for char in text if char.isalnum())


def _telephone(text: str, form: str, language: str) -> str:
    """Digit by digit, with a comma where the number has a gap."""
    groups = [" ".join(group.replace("+", "")) for group in _GROUPS.findall(text)]
    spoken = ", ".join(group for group in groups if group)
    return f"plus {spoken}" if "+" in text and language.startswith("en") else spoken or text


def _cardinal(text: str, form: str, language: str) -> str:
    bare = text.strip().replace(",", "").replace(" ", "")
    return bare if re.fullmatch(r"[+-]?\d+(\.\d+)?", bare) else text


def _ordinal(text: str, form: str, language: str) -> str:
    bare = text.strip().replace(",", "").rstrip(".")
    if not bare.isdecimal() or not bare.isascii() or not language.startswith("en"):
        return text
    teen = bare[-2:] in ("11", "12", "13")
    return bare + ("th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(bare[-1], "th"))


def _date(text: str, form: str, language: str) -> str:
    """In the order that `form` gives, else year first where it has four figures, else as it stands."""
    found = _DATE.fullmatch(text)
    if found is None:
        return text
    parts = [part for part in found.groups() if part is not None]
    order = form or ("ymd"[: len(parts)] if len(parts[0]) == 4 else "")
    if len(order) != len(parts) or not set(order) <= set("ymd"):
        return text
    given = dict(zip(order, (int(part) for part in parts), strict=True))
    if not 1 <= given.get("m", 1) <= 12 or not 1 <= given.get("d", 1) <= 31:
        return text
    return _written_date(given, language)


def _written_date(given: Mapping[str, int], language: str) -> str:
    if not language.startswith("en"):
        return "-".join(f"{given[part]:02}" for part in "ymd" if part in given)
    month = _MONTHS[given["m"] - 1] if "m" in given else ""
    day, year = (str(given[part]) if part in given else "" for part in "dy")
    return f"{month} {day}".strip() + (f", {year}" if day and year else f" {year}" if year else "")


def _as_it_is(text: str, form: str, language: str) -> str:
    return text


_KINDS: Final[Mapping[str, Callable[[str, str, str], str]]] = MappingProxyType(
    {
        "characters": _characters,
        "spell-out": _characters,
        "verbatim": _characters,
        "letters": _characters,
        "digits": _digits,
        "number_digit": _digits,
        "telephone": _telephone,
        "cardinal": _cardinal,
        "number": _cardinal,
        "ordinal": _ordinal,
        "date": _date,
        "time": _as_it_is,
        "currency": _as_it_is,
        "fraction": _as_it_is,
        "unit": _as_it_is,
        "address": _as_it_is,
        "name": _as_it_is,
    }
)
KINDS: Final = tuple(_KINDS)
