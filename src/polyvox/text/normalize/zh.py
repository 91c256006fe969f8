"""The Chinese (Mandarin) normaliser; words in Latin letters are left alone."""

import re
from typing import Final

from polyvox.text.normalize.chinese import (
    addresses,
    dates_times,
    figures,
    finance,
    measures,
    medicine,
    money,
    named_numbers,
    science,
    specifications,
    typed_digits,
)
from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_CJK: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_COMMA: Final = re.compile("[，、﹐﹑]")
# The number of the next item of a list in one line: 1.苹果 2.香蕉.
_NEXT_ITEM: Final = re.compile(f"(?<=[{_CJK}]) +(?=[1-9]\\d?[.、)）] ?[{_CJK}A-Za-z])")
# Many writers part figures from characters by a space, which is not heard: 2024 年 3 月.
_SPACED_FIGURE: Final = re.compile(
    f"(?<=[{_CJK}])[ \u00a0\u2009\u202f](?=[0-9])"
    f"|(?<=[0-9%‰℃])[ \u00a0\u2009\u202f](?=[{_CJK}])(?![一二两三四五六七八九十几半])"
)
# Two numbers, the second of them in characters: D3075 二等座.
_PARTED_NUMBERS: Final = re.compile("(?<=[0-9]) (?=[一二两三四五六七八九十几半])")
_DOT_IN_NAME: Final = re.compile(f"(?<=[{_CJK}])[·・•](?=[{_CJK}])")
_SINGLE_OPEN: Final = re.compile("‘")
_SINGLE_CLOSE: Final = re.compile("’(?![A-Za-z])")
_SPACE: Final = re.compile("[ \u00a0\u2009\u202f]")
_DIGIT: Final = re.compile(r"\d")
_LATIN: Final = re.compile("[A-Za-z]")
_TILDE: Final = re.compile("[~～]")


def normalize(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Figures and signs as words, and punctuation in the voices' forms.

    The order matters: what has the most specific form is read first, so that later readers see only what is left.
    """
    if not options.normalize:
        return speakable(text)
    if _DIGIT.search(text.text):
        text = figures.read_guesses(_unspaced(text))
    text = figures.read_changes(text)
    text = figures.read_menus(finance.read(fold(science.read_logarithms(text).sub(_COMMA, ", "))))
    text = medicine.read_findings(text)
    text = _addresses(text, options)
    latin = _LATIN.search(text.text) is not None
    if latin:
        text = science.read_functions(science.read_works(text))
        text = measures.read_asked_units(text) if options.unit_normalization else text
    text = _figures(text, options) if _DIGIT.search(text.text) else dates_times.read_spans(text)
    text = figures.read_formulas(science.read_compounds(text) if latin else text)
    if options.unit_normalization and "/" in text.text:
        text = measures.read_rates(text)
    if _DIGIT.search(text.text):
        text = addresses.read_mixed(named_numbers.read_serials(addresses.read_codes(text)))
    text = figures.read(text)
    if options.replace_remaining_symbols:
        text = figures.read_signs(text)
    if latin:
        text = addresses.read_letters(text)
    return _marks(text, options)


def _addresses(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    if options.replace_remaining_symbols:
        text = addresses.read_quoted_marks(text)
    if options.email_normalization:
        text = addresses.read_emails(text)
    return addresses.read_urls(text) if options.url_normalization else text


def _unspaced(text: TrackedText) -> TrackedText:
    """Figures without the spaces around them, which part the items of a list and two numbers alone."""
    if _SPACE.search(text.text) is None:
        return text
    return text.sub(_NEXT_ITEM, ", ").sub(_SPACED_FIGURE, "").sub(_PARTED_NUMBERS, ", ")


def _figures(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Figures whose form tells what they are: numbers to dial, dates, times, sums, shares and measures."""
    text = medicine.read(specifications.read_specifications(named_numbers.read(text)))
    text = typed_digits.read(addresses.read_designations(text))
    if options.phone_normalization:
        text = addresses.read_phones(typed_digits.read_services(text))
    text = dates_times.read_spans(dates_times.read(figures.read_scientific(text)))
    text = money.read_shares(money.read_money(text))
    return measures.read_units(text) if options.unit_normalization else text


def _marks(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Chinese marks in the voices' forms."""
    text = text.sub(_DOT_IN_NAME, "").sub(_TILDE, "").sub(_SINGLE_OPEN, "“").sub(_SINGLE_CLOSE, "”")
    return tidy(text, keep_symbols=not options.replace_remaining_symbols)
