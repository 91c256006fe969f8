"""Symbols of units: what a language's words for the prefixes and the plain units make together."""

from collections.abc import Mapping
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
