"""Figures that agree with a noun counted before them: "2.341 personas, 201 más que ayer", "das 302, 201 em casa"."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_COUNTED: Final = re.compile(
    r"(?<![\w.,/])(?<!\b[Ee]m )(?<!\b[Ee]n )(?<!urante )(?<!\bh[aá] )(?<!\b[Hh]ace )(?<!\btras )(?<!\bapós )(?<!\bpor )"
    r"(?:\d[\d.]*|mil|(?:mill[oó]n(?:es)?|[mb]ilh(?:ão|ões)|[kM]|mi) de) "
    r"(?!(?:mil|mill[oó]n(?:es)?|[mb]ilh(?:ão|ões)) )(?P<noun>[^\W\dA-Z_]{2,}s)(?!\w)"
)
_SENTENCE: Final = re.compile(r"[.!?][\"”»)]* |\n")
_ADVERBS: Final = "nem|já|ainda|não|só|também|nunca|se|no|ya|aún|todavía|ni|solo|también"
_BEFORE: Final = re.compile(r"(?P<word>[^\W\d_]+) \Z")
_LISTED: Final = (", ", "; ", " e ", " y ", "(", " o ", " ou ")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SIZE: Final = re.compile(r" (?:PP|P|M|GG?|X[SGL]|EG|XX[SGL]|S|L)(?![\w.'’-])")
_PLACE: Final = re.compile(r" (?:e[mn]|n[oa]s?|con|com|sin|sem|contra|por|para|d[aeo]s?|del)(?= [^\W_]|/)")
_PUT_AT: Final = re.compile(r" (?P<article>[lo]?as) (?P<noun>[a-zà-ÿ]{3,}s)(?!\w)")
_REACH: Final = 120
_BEFORE_REACH: Final = 16


@dataclass(frozen=True, slots=True)
class CountedBefore:
    """The words of one language that stand beside such figures."""

    articles: frozenset[str]  # of many, feminine
    of_them: re.Pattern[str]  # behind a figure: of them, who are feminine
    compared: re.Pattern[str]  # so many more or fewer
    being: re.Pattern[str]  # so many are
    doing: re.Pattern[str]  # or do, by the ends of verbs of many, which no counted noun has
    is_feminine: Callable[[str], bool]
    others: frozenset[str]  # words that no figure counts

    @classmethod
    def of(
        cls,
        articles: str,
        of_them: str,
        compared: str,
        being: str,
        doing: str,
        is_feminine: Callable[[str], bool],
        others: frozenset[str],
    ) -> "CountedBefore":
        return cls(
            frozenset(articles.split()),
            re.compile(rf" (?:{of_them})(?!\w)"),
            re.compile(rf" (?:{compared})(?!\w)"),
            re.compile(rf" (?:(?:{_ADVERBS}) )?(?:{being})(?!\w)(?: (?P<what>[a-zà-ÿ]+s)(?!\w))?"),
            re.compile(rf" (?:(?:{_ADVERBS}) )?[a-zà-ÿ]{{2,}}(?:{doing})(?!\w)(?: (?P<what>[a-zà-ÿ]+[oa]s)(?!\w))?"),
            is_feminine,
            others,
        )

    def is_figure_feminine(self, figure: re.Match[str]) -> bool:
        """Return whether a figure before no noun counts something feminine."""
        text, start, end = figure.string, figure.start(), figure.end()
        if self.of_them.match(text, end):
            return True
        being = self.verb(figure)
        if being is not None and being["what"] and self.is_feminine(being["what"]):
            return True
        if self._is_of_many(figure):
            return True
        before = _BEFORE.search(text, max(0, start - _BEFORE_REACH), start)
        if before is not None and before["word"].lower() in self.articles:
            return True
        if not (being or self.compared.match(text, end) or self._is_listed(figure)):
            return False
        return self._counts_feminine(text, start)

    def _is_of_many(self, figure: re.Match[str]) -> bool:
        """Return whether what is put at a figure follows it: "eleva a 2.201 las muertes"; years are no such."""
        text, start, end = figure.string, figure.start(), figure.end()
        put = _PUT_AT.match(text, end)
        if put is None or _YEAR.fullmatch(figure.group()) or put["article"] not in self.articles:
            return False
        return text.endswith((" a ", " en ", " em ", " para "), 0, start) and self.is_feminine(put["noun"])

    def verb(self, figure: re.Match[str]) -> re.Match[str] | None:
        """A word for what so many are or do, behind a figure; the noun of one may end as a verb: "1 imagen"."""
        being = self.being.match(figure.string, figure.end())
        return being if being or figure.group() == "1" else self.doing.match(figure.string, figure.end())

    def _is_listed(self, figure: re.Match[str]) -> bool:
        """Return whether a figure goes on counting: ", 201 em rodovias", "e 12 GG"; years do not."""
        text, start, end = figure.string, figure.start(), figure.end()
        if not text.endswith(_LISTED, 0, start) or _YEAR.fullmatch(figure.group()):
            return False
        return (_SIZE.match(text, end) or _PLACE.match(text, end)) is not None

    def _counts_feminine(self, text: str, start: int) -> bool:
        """Return whether the last noun that was counted in the sentence is feminine."""
        near = text[max(0, start - _REACH) : start]
        near = near[max((mark.end() for mark in _SENTENCE.finditer(near)), default=0) :]
        nouns = [found["noun"] for found in _COUNTED.finditer(near)]
        counted = [noun for noun in nouns if noun not in self.others]
        return bool(counted) and self.is_feminine(counted[-1])
