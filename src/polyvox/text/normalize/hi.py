"""The Hindi normaliser; words in Latin letters are left alone, apart from units and currencies."""

from polyvox.text.normalize.hindi import (
    abbreviations,
    addresses,
    dates_times,
    figures,
    formulas,
    halves,
    latin,
    measures,
    references,
    rulers,
    versions,
)
from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


def normalize(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Figures, signs and abbreviations as words, and punctuation in the voices' forms.

    The order matters: what has the most specific form is read first, so that later readers see only what is left.
    """
    if not options.normalize:
        return speakable(text)
    text = fold(text)
    if options.email_normalization:
        text = addresses.read_emails(text)
    if options.url_normalization:
        text = addresses.read_urls(text)
    text = references.read(latin.read(rulers.read(formulas.read(versions.read(text)))))
    text = dates_times.read(measures.read_money(text))
    text = halves.read(text)
    text = abbreviations.read(text)
    if options.phone_normalization:
        text = figures.read_phones(text)
    text = measures.read_shares(text)
    text = figures.read_powers(text)
    if options.unit_normalization:
        text = measures.read_units(text)
    text = figures.read(text)
    if options.replace_remaining_symbols:
        text = figures.read_signs(text)
    return tidy(text, keep_symbols=not options.replace_remaining_symbols)
