"""The program of processes that read Kokoro's texts: `python -m polyvox.engines.kokoro.text_worker ESPEAK`."""

import sys
from contextlib import suppress
from functools import partial
from typing import Final

from polyvox import fork_server
from polyvox.engines.kokoro.text_reader import TextReader
from polyvox.errors import NotServedError
from polyvox.runtime.text_worker import answer_parent
from polyvox.text.normalize import normalizer_for
from polyvox.text.phonemes.espeak.choice import VOICES
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_WORDS: Final = {
    "en-us": "Hello.",
    "en-gb": "Hello.",
    "es": "Hola.",
    "fr": "Bonjour.",
    "hi": "नमस्ते।",
    "it": "Ciao.",
    "pt-br": "Olá.",
    "zh": "今天3点还要去银行。",
    "ja": "今日は3時に銀行へ行った。",
}
"""Words that load the tables of each language. None is unlisted in English: the network for those has threads."""


def main() -> None:
    reader = TextReader(sys.argv[1])
    load_tables(reader)
    fork_server.serve(partial(answer_parent, lambda _: reader.chunks))


def load_tables(reader: TextReader) -> None:
    """Load what all children share, without a process of espeak-ng: one answers a single parent."""
    for language, words in _WORDS.items():
        with suppress(NotServedError):  # a package is missing; the engine's own warning names it
            frontend = reader.frontend(language)
            if language in VOICES:
                normalizer_for(language)(TrackedText.of(words), NormalizationOptions())
            else:
                list(frontend.read(words, NormalizationOptions()))


if __name__ == "__main__":
    main()
