"""Speaks an item alone and in its contexts, and finds the contexts that change it.

A context is rendered twice: with the item, and with a plain word of the language in its place. The sentences of the
second, with the item's words put for the plain word, are what the first must be: then nothing is lost, merged with a
neighbour, or cut.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from polyvox.text.markup import markup
from polyvox.text.normalize import normalizer_for
from polyvox.text.segmentation import split
from polyvox.types import NormalizationOptions

SPACES: Final = ("\u00a0", "\u202f", "\u2009")
"""No-break, narrow no-break and thin space, each of which may stand for any space of an item."""
_SHOWN: Final = 20
_HAN: Final = "\u3040-\u30ff\u3400-\u9fff"
_WORD: Final = re.compile(rf"[{_HAN}]|(?:(?![{_HAN}_])[\w\u0300-\u036f\u0900-\u0963])+(?:'[^\W_]+)*")
_CAPITALS: Final = re.compile(rf"(?<![^\W_{_HAN}])[A-Z.]{{2,}}(?![^\W_{_HAN}])")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that is written, its other spellings, and its reading where that is fixed.

    Letters that are spelled are written as capitals with spaces between or without: `P M`, `PM`.
    """

    written: str
    heard: str = ""
    also: tuple[str, ...] = ()

    def spellings(self, turn: int) -> Iterator[str]:
        """All spellings, those with a space once more with another kind of it: each kind in its turn."""
        for spelling in (self.written, *self.also):
            yield spelling
            if " " in spelling:
                yield spelling.replace(" ", SPACES[(turn + len(spelling)) % len(SPACES)])


@dataclass(frozen=True, slots=True)
class Context:
    """A text with a place for an item, `{}`, and the classes that would mean something else there."""

    template: str
    not_for: frozenset[str] = frozenset()

    def with_item(self, written: str) -> str:
        """The text; a full stop that ends the item ends the sentence as well."""
        template = self.template.replace("{}.", "{}") if written.endswith(".") else self.template
        return template.replace("{}", written)


@dataclass(frozen=True, slots=True)
class Language:
    """What a language brings: items by class, contexts, a plain word, and a context that leaves an item as it is."""

    tag: str
    items: Mapping[str, Sequence[Item]]
    contexts: Sequence[Context]
    plain: str
    carrier: str = field(default="{}")


def changed(language: Language, kind: str) -> list[str]:
    """The contexts of a class that change one of its items, each with both readings; empty where all is well."""
    return [line for item in language.items[kind] for line in _changed(language, kind, item)]


def report(lines: Sequence[str]) -> str:
    """The first of these lines, and how many there are."""
    return "\n".join([f"{len(lines)} are read otherwise", *lines[:_SHOWN]])


def spoken(language: str, raw: str) -> tuple[Words, ...]:
    """The words of each sentence, as a frontend sees them; sentences without a word are left out."""
    text = normalizer_for(language)(markup.parse(raw).text, NormalizationOptions())
    found = (words(sentence.text) for sentence in split.sentences(text))
    return tuple(sentence for sentence in found if sentence)


def words(text: str) -> Words:
    """Words in small letters, without marks; capitals stand apart, since they may be spelled."""
    apart = _CAPITALS.sub(lambda match: " ".join(match.group()), text.replace("’", "'"))
    return tuple(_WORD.findall(apart.casefold()))


def _changed(language: Language, kind: str, item: Item) -> Iterator[str]:
    heard = words(item.heard) if item.heard else _alone(language, item.written)
    for turn, context in enumerate(language.contexts):
        if kind in context.not_for:
            continue
        wanted = tuple(
            _put(sentence, words(language.plain), heard)
            for sentence in _plain(language.tag, context.with_item(language.plain))
        )
        for spelling in item.spellings(turn):
            raw = context.with_item(spelling)
            found = spoken(language.tag, raw)
            if found != wanted:
                yield f"{raw!r}\n    read   {_shown(found)}\n    wanted {_shown(wanted)}"


def _alone(language: Language, written: str) -> Words:
    """The item's own words, taken out of the context that leaves it as it is."""
    before, after = (words(part) for part in language.carrier.split("{}"))
    sentences = spoken(language.tag, language.carrier.replace("{}", written))
    found = tuple(word for sentence in sentences for word in sentence)
    assert found[: len(before)] == before, (written, found)
    assert found[len(found) - len(after) :] == after, (written, found)
    return found[len(before) : len(found) - len(after)]


@cache
def _plain(tag: str, raw: str) -> tuple[Words, ...]:
    return spoken(tag, raw)


def _put(sentence: Words, plain: Words, heard: Words) -> Words:
    """The sentence with other words in the place of the plain ones."""
    for start in range(len(sentence) - len(plain) + 1):
        if sentence[start : start + len(plain)] == plain:
            return sentence[:start] + heard + sentence[start + len(plain) :]
    return sentence


def _shown(sentences: Sequence[Words]) -> str:
    return " | ".join(" ".join(sentence) for sentence in sentences)
