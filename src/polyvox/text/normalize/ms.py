"""The Malay normaliser, which also handles the English that is mixed into Malay text."""

import re
import unicodedata
from typing import Final

from polyvox.text.normalize import en
from polyvox.text.normalize.english.web import read_tags
from polyvox.text.normalize.malay import (
    abbreviations,
    codes,
    dates,
    digit_groups,
    elongation,
    figures,
    html_remains,
    malaysian_english,
    measures,
    money,
    reduplication,
    shortforms,
    symbols,
    times,
    web,
)
from polyvox.text.normalize.malay.language import Language, LanguageRun, language_runs
from polyvox.text.normalize.malay.numbers import code
from polyvox.text.normalize.malay.passthrough import joined, mask_runs, unmask_runs
from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_DIGIT: Final = re.compile(r"\d")
_VULGAR_FRACTION: Final = re.compile("[¼-¾⅐-⅞↉]")


def normalize(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Figures, signs, abbreviations and the short forms of chat as words, sentence by sentence in its own language.

    Other scripts and emoji stay exactly as they are.
    """
    text, runs = mask_runs(html_remains.strip(text) if options.normalize else text)
    if not options.normalize:
        return unmask_runs(speakable(text), runs)
    return unmask_runs(joined(_read(run, options) for run in language_runs(fold(text))), runs)


def _read(run: LanguageRun, options: NormalizationOptions) -> TrackedText:
    """The words of one run; the white space around them stays, since it separates the run from its neighbours."""
    if run.language is Language.FOREIGN:
        return run.text
    text = run.text
    body = text.strip()
    if not body.text:
        return text
    start = len(text.text) - len(text.text.lstrip())
    reader = _english if run.language is Language.ENGLISH else _malay
    return joined((text[:start], reader(body, options), text[start + len(body) :]))


def _english(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    return en.normalize(malaysian_english.read(text, options), options)


def _malay(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """The order matters: what has the most specific form is read first, so that later readers see only what is left."""
    text = read_tags(web.read(text, options, code))
    text = reduplication.read(elongation.read(text))
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
    """Expand figures together with their context: dates, times, money, measures."""
    text = dates.read(figures.read_marked(figures.read_spaced(text)))
    text = times.read(figures.read_verses(text))
    text = digit_groups.read_identities(text, digit_groups.MALAY)
    if options.phone_normalization:
        text = digit_groups.read_phones(text, digit_groups.MALAY)
    text = measures.read_shares(money.read(text))
    if options.unit_normalization:
        text = measures.read(text)
    return figures.read_parts(digit_groups.read_labelled(text, digit_groups.MALAY))


def _fraction_in_figures(match: re.Match[str]) -> str:
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    fraction = unicodedata.normalize("NFKC", match.group()).replace("⁄", "/")
    return (" " if before.isdigit() else "") + fraction + (" " if after.isdigit() else "")
