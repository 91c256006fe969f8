"""Tags inside a text: those of the model stay, `[voice:…]`, `[rate:…]` and pauses are obeyed, the rest is dropped.

Whatever looks like markup and is obeyed by nobody here would be read aloud: control tokens of language models, HTML and
XML, voice tags where they are off. All of it is taken out with a warning; a text is never refused for it.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from polyvox.text.markup import markup
from polyvox.text.markup.script import Part, Passage, Script, Silence, Style
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import DROPPED, IGNORED, SPOKEN, Warnings
from polyvox.types import SPEED_RANGE, Span

MAX_TAG_CHARS: Final = 1_100
"""Length up to which text between angle brackets is taken for a tag."""

# Every repeated class stops at a character that begins the next candidate, which keeps the search linear.
_MARKUP: Final = re.compile(
    r"(?P<control><\|[^|<>]{0,64}\|>)"
    r"|(?P<hidden><!--[^<>]{0,1000}-->|<!\[CDATA\[|\]\]>|<[!?][A-Za-z][^<>]{0,1000}>)"
    r"|(?P<tag></?(?P<name>[A-Za-z][\w.:-]{0,30})(?P<attributes>\s[^<>]{0,1000})?/?>)"
    r"|(?P<control_tag>\[\s*(?P<kind>voice|rate|baserate)\s*:\s*(?P<value>[^\[\]\n]{0,200})\])"
    r"|(?P<insert>\[[^\[\]\n]{1,400}\]\(/[^/()\[\]]{0,400}/\)|\[\s*pause(?:\s*:|\s+[+-]?\.?\d)[^\[\]\n]{0,60}\])"
    r"|\[(?P<linked>[^\[\]\n]{1,400})\](?P<target>\([^()\[\]\s]{1,1000}\))"
    r"|(?P<bracketed>\[(?P<word>[^\W\d_][^\W_]{0,15}(?:[_-][^\W_]{1,15}){0,3})\])",
    re.IGNORECASE,
)
_ATTRIBUTES: Final = re.compile(r"(?:\s+[\w.:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=]+))*\s*/?")
_BLOCKS: Final = frozenset(
    "address article aside blockquote body br dd div dl dt figure footer form h1 h2 h3 h4 h5 h6 head header hr html li "
    "main nav ol option p paragraph pre section sentence speak table tbody td th thead title tr ul".split()
)
_INLINE: Final = frozenset(
    "a abbr acronym audio b bdi bdo big break button center cite code data del desc dfn dialogue em emphasis font i "
    "img input ins kbd label lang lexicon link mark meta metadata meter phoneme picture progress prosody q rp rt ruby "
    "s samp say-as script select silence small source span strike strong style sub sup svg time token tt turn u var "
    "video voice w wbr".split()
)
_ALONE: Final = frozenset("break img mark silence wbr".split())
_LONGEST_PHONE: Final = 7
_RATE: Final = re.compile(r"\d{1,3}(?:\.\d{1,6})?|\.\d{1,6}")


@dataclass(frozen=True, slots=True)
class TagRules:
    """The markup of a text that is obeyed.

    `tags` are the model's own; None for a model without any, to which brackets are punctuation. `reads_markup` is true
    of a model whose frontend takes pauses, phonemes and Markdown (`markup.py`). `voice_tags` says whether `[voice:…]`
    and `[rate:…]` are obeyed, `pauses` whether pauses are where the model does not read them.
    """

    tags: frozenset[str] | None = None
    reads_markup: bool = True
    voice_tags: bool = False
    pauses: bool = True


def may_begin_in(raw: str) -> bool:
    """True if a text holds a character that markup begins with, of tags or of SSML."""
    return "<" in raw or "[" in raw or "]]>" in raw


def parse(raw: str, rules: TagRules, warnings: Warnings, rate: float = 1.0) -> Script:
    """Take the text apart; `rate` is the pace up to the first voice tag.

    `MarkupError` where a pause or phonemes cannot be honoured.
    """
    if not may_begin_in(raw) or _MARKUP.search(raw) is None:
        return Script(raw, (Passage(TrackedText.of(raw), Style(rate=rate)),)) if raw else Script(raw, ())
    return _Reader(raw, rules, warnings, rate).read()


def cleaned(text: TrackedText, rules: TagRules, warnings: Warnings) -> TrackedText:
    """The text in one piece, without what only a script can obey: for one whose place decides voice and pauses."""
    if _MARKUP.search(text.text) is None:
        return text
    parts = parse(text.text, replace(rules, voice_tags=False, pauses=False), warnings).parts
    found = joined([part.text for part in parts if isinstance(part, Passage)])
    return TrackedText(
        found.text,
        tuple(text.starts[start] for start in found.starts),
        tuple(text.ends[end - 1] for end in found.ends),
    )


class _Reader:
    """One pass over a text."""

    def __init__(self, raw: str, rules: TagRules, warnings: Warnings, rate: float) -> None:
        self._raw = raw
        self._rules = rules
        self._warnings = warnings
        self._source = TrackedText.of(raw)
        self._kept: list[TrackedText] = []
        self._last = ""
        self._parts: list[Part] = []
        self._style = self._own = Style(rate=rate)
        self._base_rate = rate

    def read(self) -> Script:
        done = 0
        for found in _MARKUP.finditer(self._raw):
            if found.start() < done:
                continue
            self._keep(done, found.start())
            done = self._take(found)
        self._keep(done, len(self._raw))
        self._flush()
        return Script(self._raw, tuple(self._parts))

    def _take(self, found: re.Match[str]) -> int:
        """Handle a match; returns where the text goes on."""
        own = self._own_tag(found[0])
        if own is not None:
            self._put(own, found)
            return found.end()
        if found["control_tag"]:
            return self._control_tag(found)
        if found["insert"]:
            return self._insert(found)
        if found["linked"]:
            return self._link(found)
        if found["bracketed"]:
            return self._bracketed(found)
        if found["tag"]:
            return self._tag(found)
        return self._drop(found, alone=True)

    def _own_tag(self, text: str) -> str | None:
        """The tag of the model that a match is, also one written with capitals; phones are told apart by them."""
        tags = self._rules.tags or frozenset()
        if text in tags:
            return text
        lowered = text.lower()
        return lowered if len(lowered) > _LONGEST_PHONE and lowered in tags else None

    def _control_tag(self, found: re.Match[str]) -> int:
        if not self._rules.voice_tags:
            return self._drop(found, alone=True)
        value = found["value"].strip()
        style = self._voiced(value) if found["kind"].lower() == "voice" else self._rated(found["kind"].lower(), value)
        if style is None:
            return self._drop(found, alone=True, kind=IGNORED)
        if style != self._style:
            self._flush()
            self._style = style
        return found.end()

    def _voiced(self, name: str) -> Style:
        """Speech in another voice begins at that voice's own pace; without a name it is the request's own."""
        self._base_rate = 1.0 if name else self._own.rate
        return Style(voice=name) if name else self._own

    def _rated(self, kind: str, value: str) -> Style | None:
        if _RATE.fullmatch(value) is None or float(value) <= 0:
            return None
        if kind == "baserate":
            self._base_rate = float(value)
        rate = float(value) if kind == "baserate" else self._base_rate * float(value)
        return replace(self._style, rate=min(max(rate, SPEED_RANGE.lowest), SPEED_RANGE.highest))

    def _insert(self, found: re.Match[str]) -> int:
        """A pause, or a word with its phonemes: for the model's frontend where it reads them, else obeyed here."""
        if self._rules.reads_markup:
            self._keep(*found.span())
            return found.end()
        insert = markup.insert(self._source, found.start())
        if insert is None:
            self._keep(*found.span())
        elif isinstance(insert, markup.InlinePhonemes):
            self._warnings.count(DROPPED, f"(/{insert.phonemes}/)")
            self._keep(insert.span.start, insert.span.end)
        elif not self._rules.pauses:
            return self._drop(found, alone=True)
        else:
            self._flush()
            self._parts.append(Silence(insert.seconds))
        return found.end()

    def _link(self, found: re.Match[str]) -> int:
        if self._rules.reads_markup:
            self._keep(*found.span())
        else:
            self._warnings.count(DROPPED, found["target"])
            self._keep(*found.span("linked"))
        return found.end()

    def _bracketed(self, found: re.Match[str]) -> int:
        if self._rules.tags is None:
            self._keep(*found.span())
        else:
            self._warnings.count(SPOKEN, found[0])
            self._keep(*found.span("word"))
        return found.end()

    def _tag(self, found: re.Match[str]) -> int:
        name = found["name"].lower()
        known = name in _BLOCKS or name in _INLINE or ":" in name
        if _ATTRIBUTES.fullmatch(found["attributes"] or "") is None or not (known or self._stands_apart(found)):
            self._keep(found.start(), found.start() + 1)
            return found.start() + 1
        if name in _BLOCKS:
            self._warnings.count(DROPPED, found[0])
            self._put("\n", found)
            return found.end()
        return self._drop(found, alone=name in _ALONE)

    def _stands_apart(self, found: re.Match[str]) -> bool:
        """Return whether an unknown name in angle brackets is markup, and no part of a word as in `List<int>`."""
        return found[0].startswith("</") or not self._raw[max(0, found.start() - 1) : found.start()].isalnum()

    def _drop(self, found: re.Match[str], *, alone: bool, kind: str = DROPPED) -> int:
        """Leave a match out; one that stands `alone` parts the words around it."""
        self._warnings.count(kind, found[0])
        end = found.end()
        before, behind = self._last, self._raw[end : end + 1]
        if alone and before and behind and not before.isspace() and (behind.isalnum() or behind in "<["):
            self._put(" ", found)
        elif behind == " " and (not before or before.isspace()):
            end += 1
        return end

    def _keep(self, start: int, end: int) -> None:
        if end > start:
            self._kept.append(self._source[start:end])
            self._last = self._raw[end - 1]

    def _put(self, text: str, found: re.Match[str]) -> None:
        self._kept.append(TrackedText.of("").appended(text, Span(*found.span())))
        self._last = text[-1]

    def _flush(self) -> None:
        """End the passage."""
        text = joined(self._kept)
        if text.text.strip():
            self._parts.append(Passage(text, self._style))
        self._kept = []


def joined(pieces: list[TrackedText]) -> TrackedText:
    """Pieces in the order of the original text as one."""
    return TrackedText(
        "".join(piece.text for piece in pieces),
        tuple(start for piece in pieces for start in piece.starts),
        tuple(end for piece in pieces for end in piece.ends),
    )
