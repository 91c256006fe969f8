"""Comments of HTML, which Markdown may hold too."""

from typing import Final

_COMMENT: Final = ("<!--", "-->")


def without_comments(text: str) -> str:
    """The text without HTML comments; one that never ends is none."""
    opening, closing = _COMMENT
    kept: list[str] = []
    done = 0
    while (start := text.find(opening, done)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept.append(text[done:start])
        done = end + len(closing)
    return "".join((*kept, text[done:]))
