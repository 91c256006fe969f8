"""Symbols of units: what a language's words for the prefixes and the plain units make together."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from polyvox.text.normalize.romance.language import Noun

_PREFIXES: Final[Mapping[str, str]] = {
    "m": "kcmdnµ", "g": "kmµn", "l": "mcdhµ", "L": "mcdhµ", "W": "mkMG", "Wh": "kMGT", "V": "mk", "A": "m", "Ah": "m",
    "Hz": "kMG", "B": "kKMGT", "Pa": "hkM", "J": "kM", "cal": "k", "s": "mµn", "bps": "kMG", "b/s": "kMG", "B/s": "kMG",
    "b": "MG", "N": "k", "Ω": "kM",
}  # fmt: skip
_SMALL: Final = (
    "kHz",
    "MHz",
    "GHz",
    "Hz",
    "kB",
    "MB",
    "GB",
    "TB",
    "kW",
    "kWh",
    "MWh",
    "mAh",
    "dB",
    "Mbps",
    "Gbps",
    "hPa",
)
_LARGE: Final = ("km", "kg", "cm", "mm", "mg", "ml", "cl", "min", "kcal", "km/h", "kWh")
_NEVER_ALONE: Final = frozenset(("A", "Ah", "B", "J", "N", "b", "bps", "b/s", "B/s"))
"""Plain units that behind a figure are a letter far more often, or that nobody counts."""
_MICRO: Final = "µμ"


def named(table: str) -> dict[str, Noun]:
    """Units on lines, "symbol: one, many", with an "f" behind feminine ones."""
    made: dict[str, Noun] = {}
    for entry in filter(None, (each.strip() for line in table.splitlines() for each in line.split(";"))):
        symbol, _, words = entry.partition(": ")
        one, many, *feminine = words.split(", ")
        made[symbol] = Noun(one, many, bool(feminine))
    return made


def any_unit(symbols: Iterable[str]) -> str:
    """A pattern of symbols, by their first letters, so that few are tried at each place; longer ones come first."""
    letters: dict[str, list[str]] = {}
    for symbol in sorted(symbols, key=len, reverse=True):
        letters.setdefault(symbol[0], []).append(re.escape(symbol[1:]))
    return "|".join(rf"{re.escape(letter)}(?:{'|'.join(rest)})" for letter, rest in letters.items())


def units(prefixes: Mapping[str, str], plain: Mapping[str, Noun], others: Mapping[str, Noun]) -> dict[str, Noun]:
    """All symbols of a language; `others` are taken as they are and come first.

    Symbols that people write in other letters than they should are read all the same.
    """
    made = {symbol: noun for symbol, noun in plain.items() if symbol not in _NEVER_ALONE}
    for symbol, noun in plain.items():
        for prefix in _PREFIXES.get(symbol, ""):
            word = prefixes[prefix.lower() if prefix == "K" else prefix]
            for written in _MICRO if prefix in _MICRO else prefix:
                made[written + symbol] = Noun(word + noun.one, word + noun.many, noun.feminine)
    made |= others
    small = {symbol.lower(): made[symbol] for symbol in _SMALL if symbol in made}
    large = {symbol.upper(): made[symbol] for symbol in _LARGE if symbol in made}
    return small | large | made
