"""The English normaliser."""

import re
import unicodedata
from enum import Enum
from typing import Final

from polyvox.text.normalize.english import (
    blood,
    british,
    clinical,
    figures,
    halves,
    labels,
    music,
    names,
    numeral_lists,
    phones,
    roman,
    scripture,
    sports,
    stars,
    symbols,
    teams,
)
from polyvox.text.normalize.english.abbreviations import before_figures, courts, ranks
from polyvox.text.normalize.english.abbreviations import rules as abbreviations
from polyvox.text.normalize.english.calendar import dates, durations, times
from polyvox.text.normalize.english.measures import money, shorthand, units, weights
from polyvox.text.normalize.english.places import addresses, airports, flags, weather
from polyvox.text.normalize.english.technical import codes, designations, formulas, identifiers, web
from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


class Variant(Enum):
    """Regions of English: those that put the month first and leave "and" out of numbers, and the others."""

    AMERICAN = "us"
    BRITISH = "gb"


_DIGIT: Final = re.compile(r"\d")
_LETTERS_TO: Final = re.compile("[A-Z][-–][A-Z]")
_OPTIONAL_PLURAL: Final = re.compile(r"(?<=[A-Za-z])(?<!\blen)(?<!\bstr)(?<!\bprint)(?<!\blist)(?<!\bset)\((?:es|s)\)")
_GROUPED_BY_LINE: Final = re.compile(r"(?<![\w.-])\d{1,3}(?:_\d{3})+(?![\w.-]\w|_)")
_VULGAR_FRACTION: Final = re.compile("[¼-¾⅐-⅞↉]")


# Single quotes around a few words, which the readers behind would take for minutes, feet or apostrophes. A quote that
# closes behind "s" may be a plural's, after a year or a word that begins with an apostrophe of its own.
_QUOTED: Final = re.compile(
    r"(?<![\w'’‘)])['‘](?!(?:n|em|til|tis|twas|cause|bout|round)\b"
    r"|\d\d(?:s\b|\b[^ '’\n]* [^ '’\n]+ [^'’\n]{0,78}s['’]))"
    r"(?P<item>[^\s'’‘“”](?:[^'’‘“”\n]{0,78}[^\s'’‘“”])?)['’](?![\w(])",
    re.IGNORECASE,
)


def normalize(text: TrackedText, options: NormalizationOptions, *, variant: Variant = Variant.AMERICAN) -> TrackedText:
    """Figures, signs and abbreviations as words, and punctuation in the voices' forms.

    The order matters: what has the most specific form is read first, so that later readers see only what is left.
    """
    if not options.normalize:
        return speakable(text)
    text = _addresses(blood.read(names.read(_folded(text))), options)
    if options.optional_pluralization_normalization and "(" in text.text:
        text = text.sub(_OPTIONAL_PLURAL, lambda match: match.group().strip("()"))
    if options.replace_remaining_symbols:
        text = symbols.read_comparisons(text)
    text = formulas.read(
        formulas.read_tolerances(ranks.read(halves.read(stars.read(text)))).sub(_VULGAR_FRACTION, _fraction_in_figures)
    )
    text = addresses.read(weather.read(airports.read(courts.read_districts(text))))
    figured = _DIGIT.search(text.text) is not None
    if figured:
        text = _quantities(courts.read_files(text), options, variant)
    if options.unit_normalization:
        text = units.read_prices(text)
    text = clinical.read_notes(abbreviations.read(dates.read_names(text)))
    text = roman.read(numeral_lists.read(text))
    if figured and (_DIGIT.search(text.text) or _LETTERS_TO.search(text.text)):
        text = codes.read(text)
    if options.replace_remaining_symbols:
        text = symbols.read(text)
    if _DIGIT.search(text.text):
        text = figures.read(text)
    if variant is Variant.BRITISH:
        text = british.read_and(text)
    return tidy(text, keep_symbols=not options.replace_remaining_symbols)


def _folded(text: TrackedText) -> TrackedText:
    """One form for each character, and double quotes where single ones quote."""
    text = fold(flags.read(text))
    if "_" in text.text:
        text = text.sub(_GROUPED_BY_LINE, lambda match: match.group().replace("_", ","))
    return text.sub(_QUOTED, r"“\g<item>”") if "'" in text.text or "‘" in text.text else text


def _quantities(text: TrackedText, options: NormalizationOptions, variant: Variant) -> TrackedText:
    """Expand figures together with their context: dates, times, money, measures."""
    text = clinical.read(music.read(sports.read(teams.read(scripture.read(designations.read(text))))))
    text = codes.read_dimensions(before_figures.read(text))
    text = times.read(
        dates.read(figures.read_marked(text), day_first=variant is Variant.BRITISH or _is_in_pounds(text))
    )
    if options.phone_normalization:
        text = phones.read(text)
    text = labels.read(text)
    text = money.read(symbols.read_ratings(text))
    if options.unit_normalization:
        text = units.read(shorthand.read(weights.read(durations.read(text))))
    return figures.read_ordinals(text)


def _is_in_pounds(text: TrackedText) -> bool:
    """Return whether sums are British, which puts the day first."""
    return "£" in text.text and "$" not in text.text


def _addresses(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    if options.email_normalization:
        text = web.read_emails(text)
    if options.url_normalization:
        text = web.read_urls(text)
    return web.read_tags(identifiers.read(text))


def _fraction_in_figures(match: re.Match[str]) -> str:
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    fraction = unicodedata.normalize("NFKC", match.group()).replace("⁄", "/")
    return (" " if before.isalnum() else "") + fraction + (" " if after.isalnum() else "")
