"""The normaliser of a Romance language: the shared rules in their order."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.punctuation import fold, speakable, tidy
from polyvox.text.normalize.romance.calendar.dates import Calendar
from polyvox.text.normalize.romance.calendar.durations import Durations
from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.normalize.romance.measures.fractions import Fractions
from polyvox.text.normalize.romance.measures.quantities import Quantities
from polyvox.text.normalize.romance.measures.ratios import Ratios
from polyvox.text.normalize.romance.neighbours import Neighbours
from polyvox.text.normalize.romance.phones import Phones
from polyvox.text.normalize.romance.scores import Scores
from polyvox.text.normalize.romance.short_forms.abbreviations import AbbreviationRules
from polyvox.text.normalize.romance.short_forms.acronyms import Acronyms
from polyvox.text.normalize.romance.shouting import Shouting
from polyvox.text.normalize.romance.technical.codes import Codes
from polyvox.text.normalize.romance.technical.equations import Equations
from polyvox.text.normalize.romance.technical.options import Options
from polyvox.text.normalize.romance.words import Words
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_VULGAR_FRACTION: Final = re.compile("[¼-¾⅐-⅞]")
_PRODUCT: Final = re.compile(r"(?:(?<=[^\W\d]|[²³€%°)])|(?<=[a-zà-ÿ]\.)) x (?=[A-Z$€£]{0,3} ?\d)")
_OPTION_SPAN: Final = re.compile("`(-[^`\\n]{1,80})`")
_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class RomanceNormalizer:
    """Figures, signs and abbreviations as words. What has the most specific form is read first."""

    language: RomanceLanguage
    abbreviations: AbbreviationRules
    acronyms: Acronyms
    calendar: Calendar
    codes: Codes
    durations: Durations
    equations: Equations
    fractions: Fractions
    neighbours: Neighbours
    options: Options
    phones: Phones
    quantities: Quantities
    ratios: Ratios
    scores: Scores
    shouting: Shouting
    words: Words

    @classmethod
    def of(cls, language: RomanceLanguage) -> "RomanceNormalizer":
        return cls(
            language,
            AbbreviationRules.of(language),
            Acronyms(language.acronyms, language.function_words | language.articles),
            Calendar.of(language),
            Codes.of(language),
            Durations(language),
            Equations(language),
            Fractions.of(language),
            Neighbours(language),
            Options(language),
            Phones.of(language),
            Quantities.of(language),
            Ratios(language),
            Scores(language),
            Shouting(language),
            Words.of(language),
        )

    def __call__(self, text: TrackedText, options: NormalizationOptions) -> TrackedText:
        if not options.normalize:
            return speakable(text)
        text = fold(text.sub(_OPTION_SPAN, r"\1") if "`" in text.text else text)
        text = self.shouting.read(text)
        if options.url_normalization:
            text = self.codes.read_files(self.words.read_addresses(text))
        for rule in self.language.own_rules:
            text = rule(text)
        text = self.abbreviations.read(text).sub(_VULGAR_FRACTION, _in_figures)
        text = self.words.read_numerals(text)
        if options.replace_remaining_symbols:
            text = self.words.read_keys(text)
        if options.unit_normalization:
            text = self.quantities.read_bare(text)
        if _DIGIT.search(text.text):
            text = self._figures(text, options)
        text = self.acronyms.read(self.options.read(text))
        if options.replace_remaining_symbols:
            text = self.words.read_signs(text)
        return tidy(text, keep_symbols=True)

    def _figures(self, text: TrackedText, options: NormalizationOptions) -> TrackedText:
        if "x " in text.text or " x" in text.text:
            text = text.sub(_PRODUCT, " × ")
        text = self.equations.read(self.scores.read(self.durations.read(self.ratios.read(text))))
        text = self.calendar.read(self.words.read_powers(text))
        if options.phone_normalization:
            text = self.phones.read(text)
        text = self.neighbours.read(self.codes.read(text))
        if options.unit_normalization:
            text = self.quantities.read(text)
        text = self.words.read_figures(self.fractions.read(self.words.read_ordinals(text)))
        for held, pattern, words in self.language.euphony:
            if held in text.text:
                text = text.sub(pattern, words)
        return text


def _in_figures(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    return (" " if before.isdigit() else "") + unicodedata.normalize("NFKC", match.group()).replace("⁄", "/")
