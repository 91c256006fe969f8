"""The words of a text that is timed after it was spoken: as the caller wrote them, and as they are read."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from polyvox.errors import MarkupError
from polyvox.text.detect import detect_language
from polyvox.text.markup import markup
from polyvox.text.markup.code_blocks import announcement
from polyvox.text.normalize import normalizer_for
from polyvox.text.segmentation.segment import bounded_sentences
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions, Span

_JOINERS: Final = frozenset("'’-‑·.,:")
_SYLLABIC: Final = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_BREAKS: Final = frozenset(",;:.!?…—–，。；：！？、।॥؟،؛\n")


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word: its span of the caller's text, what is said for it, and whether a mark or a line end follows it."""

    span: Span
    spoken: str
    breaks: bool = False


def timed_words(
    raw: str, options: NormalizationOptions, language: str | None, tags: frozenset[str] = frozenset()
) -> list[TimedWord]:
    """The words of a text in order, without markup; those that are said for one thing, such as "$5", are one.

    A character of Chinese or Japanese is a word. `tags` are dropped: they are obeyed, not read.
    """
    language = language or detect_language(raw)
    normalize = normalizer_for(language)
    words: list[TimedWord] = []
    for sentence in bounded_sentences(_without_markup(raw, options, language, tags)):
        for word in _words(normalize(sentence, options)):
            _append(words, word)
    return words


def _append(words: list[TimedWord], word: TimedWord) -> None:
    """Add a word, or join it to the one before where both stand for the same characters."""
    if words and word.span.start < words[-1].span.end:
        before = words.pop()
        word = TimedWord(before.span.cover(word.span), f"{before.spoken} {word.spoken}", word.breaks)
    words.append(word)


def _without_markup(raw: str, options: NormalizationOptions, language: str, tags: frozenset[str]) -> TrackedText:
    text = TrackedText.of(raw)
    try:
        marked = markup.parse(raw, announcement(options.code_blocks, language))
    except MarkupError:  # to an engine that reads no markup it is text
        return text
    return _without_tags(_with_inserts(marked), tags)


def _with_inserts(marked: markup.Markup) -> TrackedText:
    """The text with the words whose phonemes the caller gave, and a line end in place of a pause."""
    chars: list[str] = []
    spans: list[Span] = []
    for at, char in enumerate(marked.text.text):
        insert = markup.insert_at(char, marked.inserts)
        own = marked.text.span(at, at + 1)
        if isinstance(insert, markup.InlinePhonemes):
            chars += insert.text
            spans += [insert.span] * len(insert.text)
        else:
            chars.append(char if insert is None else "\n")
            spans.append(own)
    return TrackedText("".join(chars), tuple(span.start for span in spans), tuple(span.end for span in spans))


def _without_tags(text: TrackedText, tags: frozenset[str]) -> TrackedText:
    if not tags or not ("[" in text.text or "<" in text.text):
        return text
    return text.sub(re.compile("|".join(re.escape(tag) for tag in sorted(tags))), " ")


def _words(text: TrackedText) -> Iterator[TimedWord]:
    """Runs of letters, figures and their marks, and what is said for each."""
    start, found = 0, None
    content = text.text
    while start < len(content):
        end = _run_end(content, start)
        if end > start:
            if found is not None:
                yield found
            found = TimedWord(text.span(start, end), content[start:end])
        elif found is not None and content[start] in _BREAKS:
            found = replace(found, breaks=True)
        start = max(end, start + 1)
    if found is not None:
        yield found


def _run_end(content: str, start: int) -> int:
    """The end of the word that begins at `start`; `start` where none does."""
    if not _is_letter(content[start]):
        return start
    if _SYLLABIC.match(content, start):
        return start + 1
    end = start + 1
    while end < len(content) and not _SYLLABIC.match(content, end):
        joined = content[end] in _JOINERS and end + 1 < len(content) and _is_letter(content[end + 1])
        if not joined and not _is_letter(content[end]):
            break
        end += 1
    return end


def _is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"
