"""The Japanese normaliser; English words and whole numbers are left to the reader of words."""

import re
from typing import Final

from polyvox.text.normalize.japanese import addresses, dates_times, figures, latin, loanwords, measures
from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_DOT_IN_NAME: Final = re.compile("(?<=[\u30a0-\u30ff])[・･](?=[\u30a0-\u30ff])")
_NOTE: Final = re.compile("[※＊☆★◆◇■□●○▼▽▲△→⇒]")
# Forms of characters that only names have.
_VARIANT: Final = re.compile("[髙﨑濵德邉邊塚神福靖黑]")
_VARIANTS: Final = dict(zip("髙﨑濵德邉邊塚神福靖黑", "高崎浜徳辺辺塚神福靖黒", strict=True))
_WAVE: Final = re.compile("[~～〜]")


def normalize(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Signs, dates, times, money and measures as words, and punctuation in the voices' forms.

    The order matters: what has the most specific form is read first, so that later readers see only what is left.
    """
    if not options.normalize:
        return speakable(text)
    text = figures.read_firms(fold(text).sub(_VARIANT, lambda match: _VARIANTS[match.group()]))
    text = addresses.read(
        text,
        emails=options.email_normalization,
        urls=options.url_normalization,
        phones=options.phone_normalization,
    )
    text = figures.read_measured(text)
    text = loanwords.read(latin.read_names(latin.read_laughter(text)))
    text = measures.read_shares(measures.read_money(dates_times.read(text)))
    if options.unit_normalization:
        text = measures.read_units(text)
    text = latin.read_initials(figures.read(text))
    if options.replace_remaining_symbols:
        text = figures.read_signs(text).sub(_NOTE, " ")
    text = text.sub(_DOT_IN_NAME, "").sub(_WAVE, "")
    return tidy(text, keep_symbols=not options.replace_remaining_symbols)
