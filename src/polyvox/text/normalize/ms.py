"""Malay text as it is read aloud, with the English that Malaysians mix into it."""

import re
import unicodedata
from typing import Final

from polyvox.text.normalize import en
from polyvox.text.normalize.english.web import read_tags
from polyvox.text.normalize.malay import (
    abbreviations,
    codes,
    dates,
    dialled,
    doubling,
    drawn,
    figures,
    in_english,
    measures,
    money,
    shortforms,
    symbols,
    tags,
    times,
    web,
)
from polyvox.text.normalize.malay.kept import joined, put_back, set_aside
from polyvox.text.normalize.malay.language import Language, Stretch, stretches
from polyvox.text.normalize.malay.numbers import code
from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_DIGIT: Final = re.compile(r"\d")
_VULGAR_FRACTION: Final = re.compile("[¼-¾⅐-⅞↉]")


def normalize(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Figures, signs, abbreviations and the short forms of chat as words, sentence by sentence in its own language.

    Other scripts and pictures stay exactly as they are.
    """
    text, runs = set_aside(tags.strip(text) if options.normalize else text)
    if not options.normalize:
        return put_back(speakable(text), runs)
    return put_back(joined(_read(stretch, options) for stretch in stretches(fold(text))), runs)


def _read(stretch: Stretch, options: NormalizationOptions) -> TrackedText:
    """The words of one stretch; the white space around them stays, since it parts the stretch from its neighbours."""
    if stretch.language is Language.FOREIGN:
        return stretch.text
    text = stretch.text
    body = text.strip()
    if not body.text:
        return text
    start = len(text.text) - len(text.text.lstrip())
    reader = _english if stretch.language is Language.ENGLISH else _malay
    return joined((text[:start], reader(body, options), text[start + len(body) :]))


def _english(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    return en.normalize(in_english.read(text, options), options)


def _malay(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """The order matters: what has the most specific form is read first, so that later readers see only what is left."""
    text = read_tags(web.read(text, options, code))
    text = doubling.read(drawn.read(text))
    text = dates.read_names(shortforms.read(abbreviations.read(text)))
    if options.replace_remaining_symbols:
        text = symbols.read_comparisons(text)
    text = text.sub(_VULGAR_FRACTION, _fraction_in_figures)
    if _DIGIT.search(text.text):
        text = _quantities(text, options)
    text = codes.read_numerals(text)
    if _DIGIT.search(text.text):
        text = codes.read(text)
    text = symbols.read_powers(text)
    if options.replace_remaining_symbols:
        text = symbols.read(text)
    if _DIGIT.search(text.text):
        text = figures.read(text)
    return tidy(text, keep_symbols=not options.replace_remaining_symbols)


def _quantities(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """What figures say together with what stands around them."""
    text = dates.read(figures.read_marked(figures.read_spaced(text)))
    text = times.read(figures.read_verses(text))
    text = dialled.read_identities(text, dialled.MALAY)
    if options.phone_normalization:
        text = dialled.read_phones(text, dialled.MALAY)
    text = measures.read_shares(money.read(text))
    if options.unit_normalization:
        text = measures.read(text)
    return figures.read_parts(dialled.read_labelled(text, dialled.MALAY))


def _fraction_in_figures(match: re.Match[str]) -> str:
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    fraction = unicodedata.normalize("NFKC", match.group()).replace("⁄", "/")
    return (" " if before.isdigit() else "") + fraction + (" " if after.isdigit() else "")
