"""Rules of signs in context that several languages join: charges, rates of exchange, options, units."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from polyvox.text.normalize.romance.language import Rule

_COMMANDS: Final = ("kill", "head", "tail", "nice", "xargs")
INVERSE_POWERS: Final[tuple[Rule, ...]] = (
    ("⁻", re.compile(r"[·.](?<=[\w²³⁻¹)].)([a-zA-Zµ]{1,4})⁻¹"), r"/\1"),
    ("⁻", re.compile(r"[·.](?<=[\w²³⁻¹)].)([a-zA-Zµ]{1,4})⁻([²³])"), r"/\1\2"),
)


def charges(plus: str, minus: str) -> tuple[Rule, ...]:
    """Charges of ions: "Na⁺", "SO₄²⁻"."""
    return (
        ("⁺", re.compile(r"([²³])⁺"), rf" \1 {plus}"),
        ("⁺", re.compile(r"(?<=\w)⁺(?![⁰¹²³⁴-⁹])"), f" {plus}"),
        ("⁻", re.compile(r"(?<=[A-Za-z])([²³])⁻(?![⁰¹²³⁴-⁹])"), rf" \1 {minus}"),
        ("⁻", re.compile(r"(?<=[A-Za-z\d])⁻(?![⁰¹²³⁴-⁹])"), f" {minus}"),
    )


def exchange_rates(dollar: str, pound: str, franc: str) -> tuple[Rule, ...]:
    """Pairs of currencies: "EUR/USD"."""
    return (
        ("EUR/", re.compile(r"(?<!\w)EUR/USD(?!\w)"), f"euro {dollar}"),
        ("/JPY", re.compile(r"(?<!\w)USD/JPY(?!\w)"), f"{dollar} yen"),
        ("EUR/", re.compile(r"(?<!\w)EUR/GBP(?!\w)"), f"euro {pound}"),
        ("EUR/", re.compile(r"(?<!\w)EUR/CHF(?!\w)"), f"euro {franc}"),
    )


def options(dash: str, star: str) -> Iterator[Rule]:
    """Figures as options of commands, and the star of a query: "kill -9", "SELECT * FROM"."""
    for name in _COMMANDS:
        yield f"{name} -", re.compile(rf"(?<!\w){name} -(?=\d)"), f"{name} {dash} "
    yield "SELECT *", re.compile(r"(?<=SELECT )\*(?= )"), star


def units_of_powers(names: Mapping[str, str]) -> Iterator[Rule]:
    """Units of one letter behind a power of ten: "10⁻¹⁹ J"."""
    for unit, name in names.items():
        yield f" {unit}", re.compile(rf" {unit}(?<=[⁰¹²³⁴-⁹] {unit})(?![\w·/])"), f" {name}"
