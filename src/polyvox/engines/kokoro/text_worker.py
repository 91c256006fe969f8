"""The program of processes that read Kokoro's texts and render their chunks.

`python -m polyvox.engines.kokoro.text_worker ESPEAK`
"""

import sys
from contextlib import suppress
from functools import partial

from polyvox import fork_server
from polyvox.engines.kokoro.first_words import LISTED, WITHOUT_NETWORK
from polyvox.engines.kokoro.remote_chunk import renderer
from polyvox.engines.kokoro.text_reader import TextReader
from polyvox.errors import NotServedError
from polyvox.runtime.text_workers.answering import answer_parent
from polyvox.text.normalize import normalizer_for
from polyvox.text.phonemes.espeak.choice import VOICES
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions


def main() -> None:
    reader = TextReader(sys.argv[1])
    load_tables(reader)
    fork_server.serve(partial(answer_parent, lambda _: reader.chunks, finisher=renderer))


def load_tables(reader: TextReader) -> None:
    """Load what all children share, without a process of espeak-ng: one answers a single parent."""
    for language, words in (LISTED | WITHOUT_NETWORK).items():
        with suppress(NotServedError):  # a package is missing; the engine's own warning names it
            frontend = reader.frontend(language)
            if language in VOICES:
                normalizer_for(language)(TrackedText.of(words), NormalizationOptions())
            else:
                list(frontend.read(words, NormalizationOptions()))


if __name__ == "__main__":
    main()
