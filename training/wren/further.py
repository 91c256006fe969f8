"""`python -m training.wren.further`: voices that are not English, on more sentences than the two held out of training.

The models `kokoro` and `wren` speak `further_sentences.json` as the server does, into an archive for
`training.wren.score`. A voice says the sentences under the first letter of its name. The noise has a fixed seed, so the
scores repeat. Needs espeak-ng.
"""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.wren.compare import speak, started
from training.wren.held_out import Recording, save_recordings

_FILE = Path(__file__).parent / "further_sentences.json"


@dataclass(frozen=True, slots=True)
class FurtherSentences:
    """Voices, and sentences by the first letter of the voices that say them."""

    voices: Sequence[str]
    sentences: Mapping[str, Sequence[str]]

    @classmethod
    def read(cls, file: Path = _FILE) -> "FurtherSentences":
        """Read those of this folder, or another file."""
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def of(self, voice: str) -> Sequence[str]:
        """What this voice says."""
        return self.sentences[voice[0]]


async def record(further: FurtherSentences, voices: Sequence[str], threads: int) -> list[Recording]:
    """Speak everything by both models."""
    async with started(threads) as (teacher, student):
        return [
            Recording(
                voice, voice[0], text, (await speak(teacher, text, voice)).pcm, (await speak(student, text, voice)).pcm
            )
            for voice in voices
            for text in further.of(voice)
        ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the archive."""
    further = FurtherSentences.read()
    parser = argparse.ArgumentParser(prog="python -m training.wren.further", description=__doc__)
    parser.add_argument("archive", type=Path, help="file to write, .npz")
    parser.add_argument("--voices", nargs="+", default=further.voices, choices=further.voices, help="all by default")
    parser.add_argument("--threads", type=int, default=1, help="of each model")
    options = parser.parse_args(arguments)
    save_recordings(asyncio.run(record(further, options.voices, options.threads)), options.archive)


if __name__ == "__main__":
    main()
