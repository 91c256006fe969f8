"""The program of processes that read ZipVoice's texts: `python -m polyvox.engines.zipvoice.text_worker ESPEAK`."""

import sys
from dataclasses import dataclass
from functools import partial

from polyvox import fork_server
from polyvox.engines.zipvoice.frontend import UnreadText, ZipVoiceFrontend
from polyvox.runtime.text_workers.answering import Reader, answer_parent
from polyvox.text.normalize import normalizer_for
from polyvox.text.tokenizers.vocabulary import TokenVocabulary
from polyvox.text.tracked import TrackedText
from polyvox.types import ChunkPolicy, NormalizationOptions


@dataclass(frozen=True, slots=True)
class ModelTokens:
    """The part of a model that its workers have to know."""

    vocabulary: TokenVocabulary
    dialogue: bool


def main() -> None:
    load_tables(sys.argv[1])
    fork_server.serve(partial(answer_parent, partial(_reader, sys.argv[1])))


def load_tables(espeak: str) -> None:
    """Load what all children share, without a process of espeak-ng: one answers a single parent."""
    normalizer_for("en")(TrackedText.of("Hello."), NormalizationOptions())
    frontend = ZipVoiceFrontend(TokenVocabulary({}), espeak, dialogue=False)
    list(frontend.read(UnreadText("今天3点还要去银行。", NormalizationOptions(), None, ChunkPolicy(1, 1.0, 1))))


def _reader(espeak: str, model: ModelTokens) -> Reader:
    return ZipVoiceFrontend(model.vocabulary, espeak, dialogue=model.dialogue).read


if __name__ == "__main__":
    main()
