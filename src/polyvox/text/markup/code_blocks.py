"""Fenced blocks of code: read, announced or left out. A fence that is never closed opens no block."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText
from polyvox.types import CodeBlocks

_FENCE: Final = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_PROSE: Final = re.compile(r" +[\"“(]?[A-Z]\w* +\S")
"""A sentence behind a closing fence, on its line: against the rules of Markdown, but common."""
_ANNOUNCED: Final = {
    "en": "Code block.",
    "es": "Bloque de código.",
    "fr": "Bloc de code.",
    "hi": "कोड ब्लॉक।",
    "it": "Blocco di codice.",
    "ja": "コードブロック。",
    "ms": "Blok kod.",
    "pt": "Bloco de código.",
    "zh": "代码块。",
}


def announcement(choice: CodeBlocks | None, language: str) -> str | None:
    """The words in place of a block: None for its own words, nothing where it is left out."""
    if choice is CodeBlocks.READ:
        return None
    if choice is CodeBlocks.SKIP:
        return ""
    return _ANNOUNCED.get(language.lower().replace("_", "-").partition("-")[0], _ANNOUNCED["en"])


def replace_blocks(text: TrackedText, said: str) -> TrackedText:
    """The text with `said` as a paragraph of its own in place of every closed block."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    paragraph = f"\n{said}\n" if said else "\n\n"
    for start, end in _blocks(text.text):
        source = text.span(start, end)
        parts += (text.text[done:start], paragraph)
        starts += (*text.starts[done:start], *[source.start] * len(paragraph))
        ends += (*text.ends[done:start], *[source.end] * len(paragraph))
        done = end
    parts.append(text.text[done:])
    return TrackedText("".join(parts), (*starts, *text.starts[done:]), (*ends, *text.ends[done:]))


def _blocks(text: str) -> list[tuple[int, int]]:
    """Beginnings and ends of closed blocks. A second opening fence shows that the one before it was never closed."""
    found: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None or opened["fence"][0] != line["fence"][0]:
            opened = opened or _opening(line)
        elif not line["info"].strip() and len(line["fence"]) >= len(opened["fence"]):
            found.append((opened.start(), line.end()))
            opened = None
        elif _PROSE.match(line["info"]):
            found.append((opened.start(), line.start("info")))
            opened = None
        elif line["info"].strip():
            opened = _opening(line) or opened
    return found


def _opening(line: re.Match[str]) -> re.Match[str] | None:
    """The line where it can open a block: backticks behind a fence of backticks make it inline code."""
    return None if line["fence"][0] in line["info"] else line
