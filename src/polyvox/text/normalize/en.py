"""The English normaliser."""

import re
import unicodedata
from typing import Final

from polyvox.text.normalize.english import (
    abbreviations,
    codes,
    dates,
    figures,
    formulas,
    money,
    phones,
    roman,
    symbols,
    times,
    units,
    web,
)
from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_DIGIT: Final = re.compile(r"\d")
_OPTIONAL_PLURAL: Final = re.compile(r"(?<=[A-Za-z])\((?:es|s)\)")
_VULGAR_FRACTION: Final = re.compile("[¼-¾⅐-⅞↉]")


def normalize(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Figures, signs and abbreviations as words, and punctuation in the voices' forms.

    The order matters: what has the most specific form is read first, so that later readers see only what is left.
    """
    if not options.normalize:
        return speakable(text)
    text = _addresses(fold(text), options)
    if options.optional_pluralization_normalization:
        text = text.sub(_OPTIONAL_PLURAL, lambda match: match.group().strip("()"))
    if options.replace_remaining_symbols:
        text = symbols.read_comparisons(text)
    text = formulas.read(formulas.read_tolerances(text).sub(_VULGAR_FRACTION, _fraction_in_figures))
    if _DIGIT.search(text.text):
        text = _quantities(text, options)
    text = roman.read(abbreviations.read(dates.read_names(text)))
    if _DIGIT.search(text.text):
        text = codes.read(text)
    if options.replace_remaining_symbols:
        text = symbols.read(text)
    if _DIGIT.search(text.text):
        text = figures.read(text)
    return tidy(text, keep_symbols=not options.replace_remaining_symbols)


def _quantities(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Expand figures together with their context: dates, times, money, measures."""
    text = codes.read_dimensions(abbreviations.read_before_figures(text))
    text = times.read(dates.read(figures.read_marked(text)))
    if options.phone_normalization:
        text = phones.read(text)
    text = money.read(symbols.read_ratings(text))
    if options.unit_normalization:
        text = units.read(text)
    return figures.read_ordinals(text)


def _addresses(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    if options.email_normalization:
        text = web.read_emails(text)
    if options.url_normalization:
        text = web.read_urls(text)
    return web.read_tags(text)


def _fraction_in_figures(match: re.Match[str]) -> str:
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    fraction = unicodedata.normalize("NFKC", match.group()).replace("⁄", "/")
    return (" " if before.isdigit() else "") + fraction + (" " if after.isdigit() else "")
