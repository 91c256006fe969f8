"""Markup in a text that is still arriving: a tag or a link is never cut, and its inside ends no sentence."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

MAX_OPEN_CHARS: Final = 1_100
"""Characters after which markup that is still open is taken for text."""

_NAME: Final = r"/?+[A-Za-z][\w.:-]{0,30}+"
_ATTRIBUTE: Final = r"\s++[\w.:-]++\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'=<>/]++)"
_BEGUN: Final = r"\s++(?:[\w.:-]++\s*+(?:=\s*+(?:\"[^\"<>]*+|'[^'<>]*+)?)?)?"
_MARKUP: Final = re.compile(
    rf"(?P<tag><\|[^|<>]{{0,64}}+\|>|<!--[^<>]{{0,1000}}+>|<{_NAME}(?:{_ATTRIBUTE})*+\s*+/?>)"
    r"|\[\s*(?:voice|rate|baserate|pause)\b[^\[\]\n]{0,200}\]"
    r"|(?P<link>!?\[[^\[\]\n]{1,400}\]\((?:/[^/()\[\]]{0,400}/|[^()\[\]\s]{1,1000})\))",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    rf"<(?:\|[^|<>]{{0,64}}+\|?|!(?:-(?:-[^<>]{{0,1000}}+)?)?|/|{_NAME}(?:{_ATTRIBUTE})*+(?:{_BEGUN})?/?)?\Z"
    r"|!?\[[^\[\]\n]{0,400}+(?:\](?:\((?:/[^/()\[\]]{0,400}+/?|[^()\[\]\s]{0,1000}+))?)?\Z"
)


@dataclass(frozen=True, slots=True)
class MarkupView:
    """A window of an arriving text as the rules for cutting see it.

    The text up to `start` is there for its context alone. Behind it a complete tag stands as one space and a link as a
    word; markup that is still open is left out, together with all that follows it.
    """

    text: str
    start: int
    raw: str
    behind: TrackedText | None

    def in_window(self, place: int) -> int:
        """Where in the window a cut at a place of `text` falls; a closing tag stays with the words before it."""
        if self.behind is None or place <= self.start:
            return place
        at = place - self.start
        while at < len(self.behind) and self._is_closing_tag(at):
            at += 1
        return self.start + self.behind.ends[at - 1]

    def _is_closing_tag(self, at: int) -> bool:
        assert self.behind is not None
        return self.raw.startswith("</", self.behind.starts[at]) and self.behind.text[at] == " "


def view(window: str, start: int, *, final: bool) -> MarkupView:
    """The view of a window from `start` on; where it is `final`, markup that is open there will never be closed."""
    if "<" not in window and "[" not in window:
        return MarkupView(window, start, window, None)
    raw = window[start:]
    still_open = None if final else _OPEN.search(raw)
    behind = TrackedText.of(raw if still_open is None else raw[: still_open.start()]).sub(_MARKUP, _stand_in)
    return MarkupView(window[:start] + behind.text, start, raw, behind)


def _stand_in(match: re.Match[str]) -> str:
    return "link" if match["link"] else " "
