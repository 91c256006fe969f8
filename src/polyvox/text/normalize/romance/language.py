"""The words and habits of one Romance language, which the shared rules read figures with."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from polyvox.text.normalize.romance.agreement.counted_before import CountedBefore
from polyvox.text.normalize.romance.chat_letters import ChatLetters
from polyvox.text.normalize.romance.compass import Compass
from polyvox.text.tracked import TrackedText

Rule = tuple[str, re.Pattern[str], str]
"""The words or signs of which a text must hold one, the pattern that is then looked for, and its reading."""


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
class AcronymHabits:
    """Treatment of capitals in a language: as a word from some length on if they can be said, else letter by letter."""

    shortest_said: int
    said: frozenset[str]  # although the rule would spell them
    spelled: frozenset[str]  # although they can be said
    short_words: frozenset[str]  # words in capitals that are no initials
    plural: str = ""  # of those that are said: "ONGs"
    in_addresses: frozenset[str] = frozenset()  # that are spelled in small letters too, in web and e-mail addresses


@dataclass(frozen=True, slots=True)
class Abbreviations:
    """Short forms by what must follow them; full stops are written."""

    anywhere: Mapping[str, str]  # a sentence may end with them
    leading: Mapping[str, str]  # something belongs behind them
    before_figures: Mapping[str, str]  # a figure or a Roman numeral
    before_names: Mapping[str, str]  # a capital
    weekdays: Mapping[str, str]  # the figure of a day
    also_words: Mapping[str, str]  # short forms that are words too: what stands before one that ends a sentence
    compass: Compass
    by_word: tuple[Rule, ...]  # words, with their mark, one of which a text holds
    in_context: tuple[Rule, ...] = ()  # what a text holds if the pattern is to match
    letters: ChatLetters | None = None
    several: Mapping[str, str] = field(default_factory=dict)  # labels of one figure and of many


@dataclass(frozen=True, slots=True)
class Labels:
    """Nouns in small letters, by what the figures behind them are."""

    numbers: frozenset[str]  # the name of something, which agrees with nothing: page 21
    codes: frozenset[str]  # digit by digit
    files: frozenset[str]  # digit by digit where they are long
    phones: frozenset[str]


@dataclass(frozen=True, slots=True)
class RomanceLanguage:
    """One language."""

    cardinal: Callable[[int, Gender], str]
    ordinal: Callable[[int, Gender], str]
    ordinal_suffixes: str  # of a regular expression; the group `feminine` marks those of feminine ordinals
    point: str
    stop: str
    slash: str
    minus: str
    percent: str
    per: Callable[[str], str]  # "por hora", "all'ora"
    every: str  # before several hours: "cada"
    less_than: str  # before a figure, for "<"
    more_than: str
    function_of: str  # "f de x"
    rates: frozenset[str]  # nouns behind a slash: "euros/mes"
    upto: str
    either: Callable[[str], str]  # between two numbers that follow one another, before the words of the second
    by: str  # between sides: "3 x 4"
    times: Noun  # "12x"
    scored_by_x: bool  # "2 x 1" is a score
    over: str
    out_of: str  # between points and what they are of: "8/10"
    of: Callable[[str], str]  # what millions are counted of: "de pesos", "d'euros"
    phone_groups: Mapping[str, str]  # groups of a phone number with words of their own
    digits_in_phones: int  # how many digits of a phone number are said together
    months: tuple[str, ...]
    month_forms: Mapping[str, int]
    date: Callable[[int, int, int | None], str]  # day, month, year
    month_of: Callable[[str, str], str]  # month, year
    before_date: frozenset[str]
    before_marked_date: frozenset[str]  # with a comma, a colon or a bracket between
    before_time: frozenset[str]  # words behind which "8.30" is a time
    time: Callable[[int, int, int, str], str]  # hour, minute, second, "am", "pm" or ""
    and_minutes: str  # between hours and minutes, minutes and seconds, with the space behind it
    hours_from: str  # before the first of two times with a line between
    hours_upto: str
    before_minute: frozenset[str]  # words behind which "67'" is a minute of a match
    minute_of: Callable[[int], str]
    time_marks: str  # of a regular expression: what may stand behind or between hours and minutes
    currencies: Mapping[str, RomanceCurrency]
    and_cents: str
    scales: Mapping[str, Scale]
    one_below_two: bool  # "1,5 million" rather than "1,5 millones"
    units: Mapping[str, Noun]
    powers: Mapping[str, tuple[str, str]]  # words behind one and many of a squared or cubed unit
    exponents: Mapping[str, str]  # behind a number or a variable: "2", "3", and "^" before any other
    fractions: Mapping[int, Noun]
    signs: Mapping[str, str]
    keys: Mapping[str, str]  # "#" and "*" of a phone
    web: Mapping[str, str]
    abbreviations: Abbreviations
    acronyms: AcronymHabits
    labels: Labels
    roman_labels: frozenset[str]
    rulers: frozenset[str]
    queens: frozenset[str]
    ruler_number: Callable[[int, Gender], str]
    century: Callable[[int], str] | None  # None where centuries are counted by cardinals
    # What a text holds if words change before the words of a figure, or these: how they change.
    euphony: tuple[Rule, ...]
    is_feminine: Callable[[str], bool]
    articles: frozenset[str]
    function_words: frozenset[str]  # and other words that no figure counts
    half: Callable[[str, Gender], str]  # "media hora"
    and_half: Callable[[Gender], str]  # "y media"
    degrees: Noun
    temperature_scales: Mapping[str, str]
    from_upto: Callable[[str, str, bool], str] | None = None  # both ends of a range, of years and days with articles
    days_upto: Callable[[str, str], str] | None = None  # two weekdays
    feminine_plurals: tuple[str, ...] = ()  # endings, where those of the singular do not tell
    before_guesses: frozenset[str] = frozenset()  # words between which and a range no other stands
    before_hours: frozenset[str] = frozenset()  # words behind which "9-13" are hours
    ordered_labels: frozenset[str] = frozenset()  # of the labels of Roman numerals those that are numbered by ordinals
    measures_one_below_two: bool = False  # "1,5 litre"
    decimal_comma: bool = False  # "1,085 $" is one dollar and some: no comma parts thousands
    before_hyphened_date: frozenset[str] = frozenset()  # words behind which "31-12" is a day
    singular: Callable[[str], str] = str  # of a noun as it is counted: "tazas"
    counted_before: CountedBefore | None = None
    own_rules: tuple[Callable[[TrackedText], TrackedText], ...] = ()  # of this language alone, before the shared ones
