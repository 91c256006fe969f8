"""English words that Japanese say as words of their own, in kana where nothing else in Latin letters stands "
"beside them."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from polyvox.text.normalize.japanese.designations import named
from polyvox.text.tracked import TrackedText

_FILE: Final = Path(__file__).with_name("loanwords.txt")
# Words without marks that would make them part of a name.
_RUN: Final = re.compile(
    r"(?<![A-Za-z0-9_@.'’/\\-])(?<![A-Za-z] )[A-Za-z]?[a-z]{1,14}+(?: "
    r"[A-Za-z]?[a-z]{1,14}+){0,4}+(?![A-Za-z_@'’/\\-]| [A-Za-z]|\.[A-Za-z])"
)
# A name of a program that is several words in one: TypeError, use_effect.
_JOINED: Final = re.compile(
    r"(?<![A-Za-z0-9_@.'’/\\-])[A-Za-z][a-z]{1,14}(?:_?[A-Z]?[a-z]{1,14}|_?[A-Z]{2,5}(?![a-z])){1,5}(?![A-Za-z_@'’/\\-]|\.[A-Za-z])"
)
# A branch or a choice: feature/login.
_SLASHED: Final = re.compile(
    r"(?<![A-Za-z0-9_@.'’/\\-])[A-Za-z]?[a-z]{1,14}/[A-Za-z]?[a-z]{1,14}(?![A-Za-z0-9_@'’/\\-]|\.[A-Za-z])"
)
_LETTERED: Final = re.compile(
    r"(?<![A-Za-z0-9_@.'’/\\-])(?P<letter>[A-Za-z])-"
    r"(?P<word>[a-z]{3,14})(?![A-Za-z0-9_@'’/\\-]|\.[A-Za-z])"
)
# Initials and a word in one: VSCode.
_INITIALED: Final = re.compile(
    r"(?<![A-Za-z0-9_@.'’/\\-])(?P<letters>[A-Z]{2,4})(?P<word>[A-Z][a-z]{2,14})(?![A-Za-z_@'’/\\-]|\.[A-Za-z])"
)
_PART: Final = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CAPITALS: Final = re.compile(r"(?<![A-Za-z0-9_@.'’/\\&-])[A-Z]{3,14}(?![A-Za-z_@'’/\\&-]|\.[A-Za-z])")
_ANY_CAPITALS: Final = re.compile("[A-Z]{3}")
# Words of three letters that no initials are taken for.
_SHORT: Final = frozenset(
    "add all app art bad bar big boy bug cup day end fix for from get gold hot key let log low map max men mix new not "
    "off old one out pay pop red run set sky song sun tag top try two use win yes you zip".split()
)
# Behind a figure these are units.
_UNITS: Final = frozenset("bit byte cap day ft hr in mi min month ms page pt px sec tab week year".split())
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
    return named(small) if small in _SPELLED else _words().get(small)


def read(text: TrackedText) -> TrackedText:
    """Runs of Latin words of which each is listed; a whole English sentence is left to the reader of English."""
    if _ANY_CAPITALS.search(text.text):
        text = text.sub(_CAPITALS, _capitals)
    if _SMALL.search(text.text) is None:
        return text
    text = text.sub(_SLASHED, _slashed) if "/" in text.text else text
    if "-" in text.text:
        text = text.sub(_LETTERED, _lettered)
    text = text.sub(_INITIALED, _initialed)
    return text.sub(_RUN, _run).sub(_JOINED, _joined)


def _run(match: re.Match[str]) -> str | None:
    words = match.group().split(" ")
    if words[0] in _UNITS and match.string[: match.start()].rstrip(" ")[-1:].isdigit():
        return None
    found = [kana(word) for word in words]
    return " ".join(word for word in found if word) if all(found) else None


def _slashed(match: re.Match[str]) -> str | None:
    found = [kana(word) for word in match.group().split("/")]
    return "スラッシュ".join(word for word in found if word) if all(found) else None


def _initialed(match: re.Match[str]) -> str | None:
    word = kana(match["word"])
    return named(match["letters"]) + word if word else None


def _lettered(match: re.Match[str]) -> str | None:
    word = kana(match["word"])
    return named(match["letter"]) + word if word else None


def _joined(match: re.Match[str]) -> str | None:
    """A word of small letters alone is no name of several, and is left to the reader of English."""
    name = match.group()
    if name[1:].islower() and "_" not in name:
        return None
    if whole := _words().get(name.lower()):
        return whole
    found = [kana(part) for part in _PART.findall(name)]
    return "".join(word for word in found if word) if all(found) else None


def _capitals(match: re.Match[str]) -> str | None:
    word = match.group().lower()
    return _words().get(word) if len(word) > 3 or word in _SHORT else None


@cache
def _words() -> Mapping[str, str]:
    return dict(line.split(" ") for line in _FILE.read_text(encoding="utf-8").splitlines())
