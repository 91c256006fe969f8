"""English words that Japanese say as words of their own, in kana where nothing else in Latin letters stands "
"beside them."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from polyvox.text.tracked import TrackedText

_FILE: Final = Path(__file__).with_name("loanwords.txt")
# Capitals and small letters without figures or marks that would make them part of a name.
_RUN: Final = re.compile(
    r"(?<![A-Za-z0-9_@.'’/\\-])(?<![A-Za-z0-9] )[A-Za-z]?[a-z]{1,14}+(?: "
    r"[A-Za-z]?[a-z]{1,14}+){0,4}+(?![A-Za-z0-9_@'’/\\-]| [A-Za-z]|\.[A-Za-z])"
)
_SMALL: Final = re.compile("[a-z]")
_SPELLED: Final = frozenset(
    "api aws cd docx md pptx xlsx ci cli cpu css csv db dns ftp gpu html http https id ip js jwt kvm npm npx os "
    "pdf php pnpm pr "
    "sdk sql ssh ssl svg "
    "tcp tls ts udp ui uri url ux vm vpn xml yml ls cp mv rm wsl".split()
)


def kana(word: str) -> str | None:
    """The word in kana, or its letters apart where it is spelled; None for words that are not listed."""
    small = word.lower()
    return " ".join(small.upper()) if small in _SPELLED else _words().get(small)


def read(text: TrackedText) -> TrackedText:
    """Runs of Latin words of which each is listed; a whole English sentence is left to the reader of English."""
    return text.sub(_RUN, _run) if _SMALL.search(text.text) else text


def _run(match: re.Match[str]) -> str | None:
    found = [kana(word) for word in match.group().split(" ")]
    return " ".join(word for word in found if word) if all(found) else None


@cache
def _words() -> Mapping[str, str]:
    return dict(line.split(" ") for line in _FILE.read_text(encoding="utf-8").splitlines())
