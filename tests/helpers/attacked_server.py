"""A real server in a process of its own for the trials; its engine costs nothing.

`python -m helpers.attacked_server SETTINGS [DESCRIPTORS]` takes a JSON object of settings by their flat names, and how
many file descriptors it may have. Trials give it hostile
clients and watch the process from outside, since its own measurements would stop with it.
"""

import json
import os
import resource
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from helpers.processes import ProgramProcess, program_process
from polyvox.bench.null import NullEngine
from polyvox.config import Settings
from polyvox.installation import load_settings
from polyvox.server.process import run_server
from polyvox.text.markup import markup
from polyvox.text.phoneme_frontend import PhonemeFrontends
from polyvox.text.spoken import Pause, SpokenWord
from polyvox.types import AudioChunk, NormalizationOptions, Utterance, Voice

TESTS = Path(__file__).parents[1]


class AttackedEngine(NullEngine):
    """Half a minute of noise for every text, in Kokoro's default voice."""

    name = "kokoro"
    voices: Sequence[Voice] = (Voice("af_heart", "Heart", "en-us"),)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._readers = PhonemeFrontends(espeak=settings.espeak)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        """The noise, and then the pauses that the text asks for."""
        async for chunk in super().speak(utterance):
            yield chunk
        pauses = [insert.seconds for insert in markup.parse(utterance.text).inserts if isinstance(insert, Pause)]
        for index, seconds in enumerate(pauses, start=chunk.index + 1):
            pcm = np.zeros(round(seconds * chunk.sample_rate), np.float32)
            chunk = AudioChunk(pcm, chunk.sample_rate, index, chunk.end)
            yield chunk

    def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
        """What Kokoro's own costs, which is no little; the ids are code points."""
        sentences = self._readers.frontend(language).read(text, NormalizationOptions())
        words = [word for sentence in sentences for word in sentence.words if isinstance(word, SpokenWord)]
        phonemes = " ".join(word.phonemes for word in words)
        return phonemes, [ord(symbol) for symbol in phonemes]


@contextmanager
def attacked_server(
    folder: Path, *, program: str = "helpers.attacked_server", descriptors: int | None = None, **settings: Any
) -> Iterator[ProgramProcess]:
    """Serve on a free port of loopback, with nothing configured but what is given; its data lies under `folder`.

    `program` is a module that serves with another engine. It may have as many file `descriptors` as this process unless
    told otherwise.
    """
    given = {
        "host": "127.0.0.1",
        "port": 0,
        "data_dir": str(folder / "data"),
        "models_dir": str(folder / "models"),
        "log_format": "json",
    } | settings
    environment = {"PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))}
    arguments = [json.dumps(given), *([] if descriptors is None else [str(descriptors)])]
    with program_process(program, arguments, environment, folder / "server.log") as process:
        yield process


if __name__ == "__main__":
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]), int(sys.argv[2])))
    run_server(load_settings(models=["kokoro"], **json.loads(sys.argv[1])), {"kokoro": AttackedEngine})
