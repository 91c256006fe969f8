"""The dictionaries of one request, applied to its texts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from polyvox.engines.base import Engine
from polyvox.service.pronunciation.dictionaries import Dictionaries
from polyvox.text.detect import detect_language
from polyvox.text.dictionary import Lexicon, LexiconRules
from polyvox.text.dictionary.lexicon import composed
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import SLOW, UNPRONOUNCED, Warnings
from polyvox.types import Span, Voice


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """The lexicon of a request; `max_chars` is how long one of its texts may become."""

    dictionaries: Dictionaries
    lexicon: Lexicon
    owner: str
    max_chars: int

    async def rewrite(
        self, text: TrackedText, engine: Engine, language: str | None, voice: str, warnings: Warnings
    ) -> TrackedText:
        """The text as it is to be spoken; its spans stay those of the caller's text."""
        rules = self._rules(text.text, engine, language, voice)
        rewritten, slow = await self.dictionaries.rewrite(self.lexicon, text, rules, self.owner)
        for word in rewritten.unpronounced:
            warnings.count(UNPRONOUNCED, word)
        for pattern in slow:
            warnings.count(SLOW, pattern)
        return rewritten.text if rewritten.matches else text

    def found(self, text: str, engine: Engine, language: str | None, voice: str) -> list[Span]:
        """Places of the dictionaries' words and phrases in a short text."""
        tracked = composed(TrackedText.of(text))
        matches = self.lexicon.rewrite(tracked, self._rules(text, engine, language, voice)).matches
        return [tracked.span(match.start, match.end) for match in matches]

    def _rules(self, text: str, engine: Engine, language: str | None, voice: str) -> LexiconRules:
        can = engine.capabilities
        language = language or voice_language(engine.voices, voice) or detect_language(text, can.languages)
        return LexiconRules(language, can.phonemes and can.reads_markup, can.tags or frozenset(), self.max_chars)


def voice_language(voices: Iterable[Voice], voice: str) -> str:
    """The language of one of an engine's own voices, or of the first of a mix; empty for any other."""
    first = re.split(r"[(+]", voice, maxsplit=1)[0]
    return next((known.language for known in voices if known.id == first), "")
