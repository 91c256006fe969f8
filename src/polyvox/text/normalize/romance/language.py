"""The words and habits of one Romance language, which the shared rules read figures with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum


class Gender(Enum):
    """The form of a number: alone, or before a noun."""

    ALONE = 0
    MASCULINE = 1
    FEMININE = 2


@dataclass(frozen=True, slots=True)
class Noun:
    """A counted noun: one and many of it, and whether it is feminine."""

    one: str
    many: str
    feminine: bool = False

    @property
    def gender(self) -> Gender:
        return Gender.FEMININE if self.feminine else Gender.MASCULINE


@dataclass(frozen=True, slots=True)
class RomanceCurrency:
    """A currency and its hundredth part, where it has one in use."""

    name: Noun
    cent: Noun | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """A word for many: "mil", "millones"; `counted_of` says whether "de" follows it."""

    one: str
    many: str
    counted_of: bool


@dataclass(frozen=True, slots=True)
class RomanceLanguage:
    """One language. Keys of `abbreviations` are written without their last full stop."""

    cardinal: Callable[[int, Gender], str]
    ordinal: Callable[[int, Gender], str]
    ordinal_suffixes: str  # of a regular expression; the group `feminine` marks those of feminine ordinals
    point: str
    minus: str
    percent: str
    per: str
    upto: str
    over: str
    of: Callable[[str], str]  # what millions are counted of: "de pesos", "d'euros"
    digits_in_phones: int  # how many digits of a phone number are said together
    months: tuple[str, ...]
    month_forms: Mapping[str, int]
    date: Callable[[int, int, int | None], str]  # day, month, year
    before_date: frozenset[str]
    time: Callable[[int, int, int, str], str]  # hour, minute, second, "am", "pm" or ""
    time_marks: str  # of a regular expression: what may stand behind or between hours and minutes
    currencies: Mapping[str, RomanceCurrency]
    and_cents: str
    scales: Mapping[str, Scale]
    units: Mapping[str, Noun]
    powers: Mapping[str, tuple[str, str]]  # words behind one and many of a squared or cubed unit
    fractions: Mapping[int, Noun]
    signs: Mapping[str, str]
    web: Mapping[str, str]
    abbreviations: Mapping[str, str]
    roman_labels: frozenset[str]
    rulers: frozenset[str]
    ruler_number: Callable[[int, bool], str]
    century: Callable[[int], str] | None  # None where centuries are counted by cardinals
    is_feminine: Callable[[str], bool]
    degrees: Noun
    temperature_scales: Mapping[str, str]
