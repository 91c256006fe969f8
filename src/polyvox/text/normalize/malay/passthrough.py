"""Runs that pass through the Malay rules unchanged: other scripts, emoji, placeholders, and addresses once read.

During normalisation each such run is masked by one private-use character, which every rule leaves in place.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from polyvox.text.characters import HAN, INVISIBLE
from polyvox.text.placeholders import PLACEHOLDERS
from polyvox.text.tracked import TrackedText

EMOJI: Final = "\ue000"
FOREIGN: Final = "\ue001"
ASIDE: Final = "\ue002"

# Scripts other than Latin and Greek; the letters of mathematics, which only decorate Latin ones, are left out.
_SCRIPTS: Final = (
    "\u0400-\u1cff\u2c80-\u2dff\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3040-\u3098\u309b-\u31ff"
    "\u3400-\ud7ff\uf900-\ufaff\ufb13-\ufdff\ufe70-\ufefc\uff66-\uffdc"
    "\U00010000-\U0001cfff\U0001e000-\U0001efff\U00020000-\U0003ffff"
)
_MARKS: Final = "\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f\uff08\uff09\u300a-\u3011"
_EMOJI: Final = (
    "\u231a\u231b\u2328\u23cf\u23e9-\u23fa\u2600-\u2775\u2794-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001faff"
)
# The sign of the baht stands among the Thai letters.
_LETTER: Final = f"(?![{INVISIBLE}฿])[{_SCRIPTS}]"
_WORD: Final = f"(?:{_LETTER}|[\u200c\u200d])"
_GAP: Final = f"[^A-Za-z\u00c0-\u024f\u1e00-\u1eff\n{PLACEHOLDERS}{INVISIBLE}{_SCRIPTS}{_EMOJI}]"
_FIGURE: Final = r"\d++(?:[.,]\d++)*+"
_FOREIGN: Final = (
    rf"(?:(?<![\w.,]){_FIGURE})?{_LETTER}{_WORD}*+(?:{_GAP}++{_LETTER}{_WORD}*+)*+(?:{_FIGURE})?[{_MARKS}]*+"
)
_EMOJI_RUN: Final = (
    f"[0-9#*]\ufe0f?\u20e3|[{_EMOJI}][{_EMOJI}\u200d\u20e3\ufe0e\ufe0f\U000e0020-\U000e007f]*+|[{PLACEHOLDERS}]"
)
_RUN: Final = re.compile(f"(?P<foreign>{_FOREIGN})|{_EMOJI_RUN}")
_MASK: Final = re.compile(f"[{EMOJI}{FOREIGN}]")
_ASIDE: Final = re.compile(ASIDE)
_MARKED: Final = re.compile(f"{ASIDE}(?P<words>[^{ASIDE}]*){ASIDE}")
_HAN: Final = re.compile(f"[{HAN}]")
_NOT_HAN: Final = re.compile(f"(?![{HAN}\u3000-\u303f\uff00-\uff65])[{_SCRIPTS}]")


def mask_runs(text: TrackedText) -> tuple[TrackedText, tuple[TrackedText, ...]]:
    """The text with one character for each run, and the runs in their order."""
    runs: list[TrackedText] = []

    def take(match: re.Match[str]) -> str:
        runs.append(text[match.start() : match.end()])
        return EMOJI if match["foreign"] is None else FOREIGN

    # A run that is its own placeholder is left in place by `sub`, which comes to the same.
    return text.sub(_RUN, take), tuple(runs)


def set_aside(text: TrackedText) -> tuple[TrackedText, tuple[TrackedText, ...]]:
    """The text with one mask for everything that stands between two marks of `ASIDE`, and what stood there."""
    found = list(_MARKED.finditer(text.text))
    return text.sub(_MARKED, ASIDE), tuple(text[slice(*match.span("words"))] for match in found)


def unmask_runs(text: TrackedText, runs: Iterable[TrackedText]) -> TrackedText:
    """The text with the runs where they were."""
    return _unmasked(text, runs, _MASK)


def put_back(text: TrackedText, words: Iterable[TrackedText]) -> TrackedText:
    """The text with what `set_aside` took where it was."""
    return _unmasked(text, words, _ASIDE)


def masks(text: str) -> list[str]:
    """The masks of `mask_runs` in a part of its text."""
    return _MASK.findall(text)


def foreign_runs(text: TrackedText, runs: Sequence[TrackedText]) -> list[TrackedText]:
    """Those of a text's runs that are words of other scripts, in their order."""
    return [run for mask, run in zip(masks(text.text), runs, strict=True) if mask == FOREIGN]


def is_chinese(run: str) -> bool:
    """Return whether a run of another script is Chinese: has Chinese characters, and no kana or others among them."""
    return _HAN.search(run) is not None and _NOT_HAN.search(run) is None


def _unmasked(text: TrackedText, runs: Iterable[TrackedText], masks: re.Pattern[str]) -> TrackedText:
    waiting = iter(runs)
    parts: list[TrackedText] = []
    done = 0
    for match in masks.finditer(text.text):
        parts += (text[done : match.start()], next(waiting))
        done = match.end()
    return joined([*parts, text[done:]])


def joined(parts: Iterable[TrackedText]) -> TrackedText:
    """Neighbouring texts as one."""
    pieces = list(parts)
    return TrackedText(
        "".join(piece.text for piece in pieces),
        tuple(start for piece in pieces for start in piece.starts),
        tuple(end for piece in pieces for end in piece.ends),
    )
