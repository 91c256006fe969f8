"""Titles in short before a woman's first name, which are feminine there: "Lic. Marta Ruiz", "Prof. Dr. Ana Gil"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Rule
from polyvox.text.normalize.romance.short_forms.lists import short_forms

_BEGINNING: Final = r"(?<![\w./-])(?<!\d )"
_SECOND_TITLE: Final = r"(?:[A-Z][a-z]{1,4}\.[aª]? )?"
_SURNAME: Final = r"(?= (?:d[a-z]{0,3}['’ ](?:l[ao]s? )?)?[A-ZÀ-Ý][\w.])"


@dataclass(frozen=True, slots=True)
class WomensTitles:
    """The titles of one language."""

    titles: str  # "Lic. lic.: licenciada; Dr. Dr: doctora", those that stand behind others last
    names: str
    also_surnames: str  # which count only with a surname behind them: "Dr. Rosa" may be a man
    before_men: str  # articles behind which a title is a man's

    def rules(self) -> Iterator[Rule]:
        before = _BEGINNING + "".join(map(_not_behind, self.before_men.split()))
        behind = rf"(?= {_SECOND_TITLE}(?:{_any_of(self.names)}|{_any_of(self.also_surnames)}{_SURNAME}))"
        for forms, feminine in short_forms(self.titles).items():
            for form in forms.split():
                # The capital stays for what asks for a name behind it: "R. Prof. Ana Costa".
                title = feminine.capitalize() if form[0].isupper() else feminine
                yield form, re.compile(f"{before}{re.escape(form)}{behind}"), title


def _not_behind(article: str) -> str:
    return rf"(?<!\b[{article[0].upper()}{article[0]}]{article[1:]} )"


def _any_of(names: str) -> str:
    return rf"(?:{'|'.join(map(re.escape, names.split()))})(?!\w)"
