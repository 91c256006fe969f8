"""ZipVoice's text frontend: from a request's text to the token ids of its chunks."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import structlog

from polyvox.engines.zipvoice.chunking import ClauseChunk, chunk_clauses
from polyvox.engines.zipvoice.clauses import MaskedText, clauses, parse
from polyvox.engines.zipvoice.variants import LANGUAGES
from polyvox.errors import InvalidRequestError
from polyvox.text.detect import detect_language
from polyvox.text.markup.code_blocks import announcement
from polyvox.text.markup.markup import InlinePhonemes
from polyvox.text.spoken import Pause
from polyvox.text.tokenizers.emilia import EmiliaTokenizer
from polyvox.text.tokenizers.vocabulary import TokenVocabulary
from polyvox.types import ChunkPolicy, NormalizationOptions, Span

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TokenChunk:
    """A chunk's token ids, and the span of the caller's text that they say."""

    ids: tuple[int, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class UnreadText:
    """A text, its language where that is given, and how it is to be read and split."""

    text: str
    normalization: NormalizationOptions
    language: str | None
    policy: ChunkPolicy


class ZipVoiceFrontend:
    """Texts of callers on their way to one model. It keeps no state between texts."""

    def __init__(self, vocabulary: TokenVocabulary, espeak: str, *, dialogue: bool) -> None:
        self._vocabulary = vocabulary
        self._tokenizer = EmiliaTokenizer(espeak)
        self._dialogue = dialogue

    @property
    def uses_espeak(self) -> bool:
        """True if English is phonemized by the program espeak-ng, as in the models' training data."""
        return self._tokenizer.uses_espeak

    def read(self, given: UnreadText) -> Iterator[TokenChunk | Pause]:
        """The chunks of a text in order, each made when it is asked for; one without a known token is left out."""
        options, language = given.normalization, given.language
        masked = parse(
            given.text, announcement(options.code_blocks, language or detect_language(given.text, LANGUAGES))
        )
        for chunk in chunk_clauses(clauses(masked, options, language, dialogue=self._dialogue), given.policy):
            if isinstance(chunk, Pause):
                yield chunk
            elif ids := self._chunk_ids(masked, chunk):
                yield TokenChunk(ids, chunk.span)

    def transcript_ids(self, transcript: str) -> tuple[int, ...]:
        """The token ids of a reference recording's transcript."""
        masked = parse(transcript)
        found = clauses(masked, NormalizationOptions(), None, dialogue=self._dialogue and "[S" in transcript)
        whole = ClauseChunk(tuple(clause for clause in found if not isinstance(clause, Pause)))
        return self._chunk_ids(masked, whole)

    def _chunk_ids(self, masked: MaskedText, chunk: ClauseChunk) -> tuple[int, ...]:
        tokens: list[str] = []
        for part in masked.unmasked(chunk.text):
            if isinstance(part, InlinePhonemes):
                tokens += unicodedata.normalize("NFD", part.phonemes)
            else:
                tokens += self._tokenizer.tokens(part)
        encoded = self._vocabulary.encode(tokens)
        if encoded.unknown:
            log.warning("tokens not known to the model", tokens=sorted(set(encoded.unknown))[:20])
        return encoded.ids


def known_language(language: str | None) -> str | None:
    """The language itself, if the models speak it; None leaves it to the text."""
    if language is not None and language not in LANGUAGES:
        raise InvalidRequestError(
            f"ZipVoice does not speak {language!r}; it speaks {', '.join(sorted(LANGUAGES))}.", field="language"
        )
    return language
