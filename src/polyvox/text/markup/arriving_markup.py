"""Markup in a text that is still arriving: a tag or a link is never cut, and its inside ends no sentence."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Final

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
    word; markup that is still open is left out, together with all that follows it. `known` is the end of the rest in
    the window.
    """

    text: str
    start: int
    known: int
    _seen: tuple[int, ...] = ()
    _tags: tuple[re.Match[str], ...] = ()

    def in_window(self, place: int) -> int:
        """The place in the window of a cut in `text`: behind a closing tag, before an opening one."""
        index = bisect_left(self._seen, place)
        here = self._tags[index] if index < len(self._tags) and self._seen[index] == place else None
        if here is not None and here[0].startswith("</") and not self.text[place - 1].isspace():
            return here.end()
        if index == 0:
            return place
        before = self._tags[index - 1]
        behind = self._seen[index - 1] + len(_stand_in(before))
        opens = before["tag"] is not None and not before[0].startswith("</")
        if place > behind or (place == behind and not opens):
            return before.end() + place - behind
        return before.start() if before.start() > self.start else before.end()

    def place(self, position: int) -> int:
        """The place of `text` at a position of the window; that of the markup where it falls inside it."""
        index = bisect_right(self._tags, position, key=lambda tag: tag.start()) - 1
        if index < 0:
            return position
        behind = self._seen[index] + len(_stand_in(self._tags[index]))
        return self._seen[index] if position < self._tags[index].end() else behind + position - self._tags[index].end()


def view(window: str, start: int, *, final: bool) -> MarkupView:
    """The view of a window from `start` on; where it is `final`, markup that is open there will never be closed."""
    if "<" not in window and "[" not in window:
        return MarkupView(window, start, len(window))
    still_open = None if final else _OPEN.search(window, start)
    known = len(window) if still_open is None else still_open.start()
    parts: list[str] = []
    seen: list[int] = []
    tags: list[re.Match[str]] = []
    length = done = 0
    for tag in _MARKUP.finditer(window, start, known):
        parts += (window[done : tag.start()], _stand_in(tag))
        seen.append(length + tag.start() - done)
        tags.append(tag)
        length, done = seen[-1] + len(parts[-1]), tag.end()
    parts.append(window[done:known])
    return MarkupView("".join(parts), start, known, tuple(seen), tuple(tags))


def _stand_in(tag: re.Match[str]) -> str:
    return "link" if tag["link"] else " "
