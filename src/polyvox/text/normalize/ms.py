"""The Malay normaliser, which also handles the English and the Chinese that are mixed into Malay text."""

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from polyvox.text.normalize import en, zh
from polyvox.text.normalize.english.technical.web import read_tags
from polyvox.text.normalize.malay import (
    codes,
    dates,
    digit_groups,
    figures,
    html_remains,
    labelled_numbers,
    malaysian_english,
    measures,
    money,
    references,
    short_dates,
    symbols,
    times,
    versions,
    web,
)
from polyvox.text.normalize.malay.language import Language, LanguageRun, language_runs
from polyvox.text.normalize.malay.numbers import code
from polyvox.text.normalize.malay.passthrough import (
    ASIDE,
    EMOJI,
    FOREIGN,
    foreign_runs,
    is_chinese,
    joined,
    mask_runs,
    masks,
    put_back,
    set_aside,
    unmask_runs,
)
from polyvox.text.normalize.malay.short_forms import abbreviations, acronyms, chat, elongation, reduplication
from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

Reader = Callable[[TrackedText, NormalizationOptions], TrackedText]

_DIGIT: Final = re.compile(r"\d")
_VULGAR_FRACTION: Final = re.compile("[¼-¾⅐-⅞↉]")


def normalize(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Figures, signs, abbreviations and the short forms of chat as words, sentence by sentence in its own language.

    Chinese is read as the Chinese reader does; other scripts and emoji stay exactly as they are.
    """
    text, runs = mask_runs(html_remains.strip(text) if options.normalize else text)
    if not options.normalize:
        return unmask_runs(speakable(text), runs)
    parts: list[TrackedText] = []
    taken = 0
    for part in language_runs(fold(text)):
        count = len(masks(part.text.text))
        parts.append(_read(part, runs[taken : taken + count], options))
        taken += count
    return joined(parts)


def _read(part: LanguageRun, runs: tuple[TrackedText, ...], options: NormalizationOptions) -> TrackedText:
    """The words of a part, with the runs of other scripts in it; the white space around stays, as its border."""
    if part.language is Language.FOREIGN and all(is_chinese(run.text) for run in foreign_runs(part.text, runs)):
        return _chinese(part.text, runs, options)
    if part.language is Language.FOREIGN:
        return unmask_runs(part.text, runs)
    reader = _english if part.language is Language.ENGLISH else _malay
    return unmask_runs(_within_spaces(part.text, reader, options), [_foreign(run, options) for run in runs])


def _within_spaces(text: TrackedText, reader: Reader, options: NormalizationOptions) -> TrackedText:
    body = text.strip()
    if not body.text:
        return text
    start = len(text.text) - len(text.text.lstrip())
    return joined((text[:start], reader(body, options), text[start + len(body) :]))


def _chinese(text: TrackedText, runs: tuple[TrackedText, ...], options: NormalizationOptions) -> TrackedText:
    """A sentence of Chinese with its figures and signs; emoji stay masked while it is read."""
    foreign = iter(foreign_runs(text, runs))
    whole = joined(next(foreign) if text.text[at] == FOREIGN else text[at : at + 1] for at in range(len(text)))
    emoji = [run for mask, run in zip(masks(text.text), runs, strict=True) if mask == EMOJI]
    return unmask_runs(_within_spaces(whole, zh.normalize, options), emoji)


def _foreign(run: TrackedText, options: NormalizationOptions) -> TrackedText:
    """A run of another script inside a sentence; what the Chinese reader finds no words for stays as it is."""
    read = zh.normalize(run, options) if is_chinese(run.text) else run
    return read if read.text else run


def _english(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    return en.normalize(malaysian_english.read(text, options), options)


def _malay(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """The order matters: what has the most specific form is read first, so that later readers see only what is left."""
    text, addresses = set_aside(web.read_tags(web.read(text, options, code, ASIDE), code, ASIDE))
    text = labelled_numbers.read_covered(read_tags(text), digit_groups.MALAY)
    if options.unit_normalization:
        text = measures.read_rates(text)
    text = reduplication.read(elongation.read(text))
    text = acronyms.read(dates.read_names(chat.read(abbreviations.read(text))))
    if options.replace_remaining_symbols:
        text = symbols.read_comparisons(text)
    text = text.sub(_VULGAR_FRACTION, _fraction_in_figures)
    if _DIGIT.search(text.text):
        text = _quantities(symbols.read_exponents(text), options)
    text = codes.read_numerals(text)
    if _DIGIT.search(text.text):
        text = codes.read(text)
    text = symbols.read_powers(text)
    if options.replace_remaining_symbols:
        text = symbols.read(text)
    if _DIGIT.search(text.text):
        text = figures.read(text)
    return put_back(tidy(text, keep_symbols=not options.replace_remaining_symbols), addresses)


def _quantities(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Expand figures together with their context: dates, times, money, measures."""
    text = references.read(versions.read(figures.read_marked(figures.read_spaced(text))))
    text = times.read(figures.read_verses(short_dates.read(dates.read(text))))
    text = digit_groups.read_identities(text, digit_groups.MALAY)
    if options.phone_normalization:
        text = digit_groups.read_phones(text, digit_groups.MALAY)
    text = measures.read_shares(money.read(text))
    if options.unit_normalization:
        text = measures.read(text)
    return figures.read_parts(labelled_numbers.read(text, digit_groups.MALAY))


def _fraction_in_figures(match: re.Match[str]) -> str:
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    fraction = unicodedata.normalize("NFKC", match.group()).replace("⁄", "/")
    return (" " if before.isdigit() else "") + fraction + (" " if after.isdigit() else "")
