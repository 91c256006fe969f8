"""From a request's text to the numbered tokens of its chunks."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import structlog

from polyvox.engines.zipvoice.chunking import ClauseChunk, chunk_clauses
from polyvox.engines.zipvoice.script import Script, parse, pieces
from polyvox.engines.zipvoice.variants import LANGUAGES
from polyvox.errors import InvalidRequestError
from polyvox.text.markup import Spelled
from polyvox.text.spoken import Pause
from polyvox.text.tokenizers.emilia import EmiliaTokenizer
from polyvox.text.tokenizers.vocabulary import Vocabulary
from polyvox.types import ChunkPolicy, NormalizationOptions, Span

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reading:
    """A chunk's tokens, and where the caller wrote what they say."""

    ids: tuple[int, ...]
    span: Span


class Reader:
    """Reads for one model. It keeps nothing of a text."""

    def __init__(self, vocabulary: Vocabulary, espeak: str, *, dialogue: bool) -> None:
        self._vocabulary = vocabulary
        self._tokenizer = EmiliaTokenizer(espeak)
        self._dialogue = dialogue

    @property
    def reads_like_espeak(self) -> bool:
        """Whether English is read as it was when the models learned it, by the program itself."""
        return self._tokenizer.reads_like_espeak

    def read(
        self, raw: str, options: NormalizationOptions, language: str | None, policy: ChunkPolicy
    ) -> Iterator[Reading | Pause]:
        """The chunks of a text in order, each made when it is asked for; one without a known token is left out."""
        script = parse(raw)
        for chunk in chunk_clauses(pieces(script, options, language, dialogue=self._dialogue), policy):
            if isinstance(chunk, Pause):
                yield chunk
            elif ids := self._chunk_ids(script, chunk):
                yield Reading(ids, chunk.span)

    def transcript_ids(self, transcript: str) -> tuple[int, ...]:
        """The tokens of what a reference recording says, in one piece."""
        script = parse(transcript)
        found = pieces(script, NormalizationOptions(), None, dialogue=self._dialogue and "[S" in transcript)
        whole = ClauseChunk(tuple(piece for piece in found if not isinstance(piece, Pause)))
        return self._chunk_ids(script, whole)

    def _chunk_ids(self, script: Script, chunk: ClauseChunk) -> tuple[int, ...]:
        tokens: list[str] = []
        for part in script.tokens_of(chunk.text):
            if isinstance(part, Spelled):
                tokens += unicodedata.normalize("NFD", part.phonemes)
            else:
                tokens += self._tokenizer.tokens(part)
        numbered = self._vocabulary.numbered(tokens)
        if numbered.unknown:
            log.warning("tokens not known to the model", tokens=sorted(set(numbered.unknown))[:20])
        return numbered.ids


def known_language(language: str | None) -> str | None:
    """The language itself, if the models speak it; None leaves it to the text."""
    if language is not None and language not in LANGUAGES:
        raise InvalidRequestError(
            f"ZipVoice does not speak {language!r}; it speaks {', '.join(sorted(LANGUAGES))}.", field="language"
        )
    return language
