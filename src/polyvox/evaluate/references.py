"""Reference recordings, which voices should sound like."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from polyvox.audio.decode import decode
from polyvox.errors import InvalidRequestError
from polyvox.voices.recognition.similarity import Embedding, SpeakerEncoder

MAX_BYTES = 50_000_000
MAX_SECONDS = 120.0
MAX_SAMPLES = 12_000_000


def reference_files(given: Sequence[str], voices: Sequence[str]) -> dict[str, Path]:
    """The file of each voice, from entries `FILE` (for all voices) and `VOICE=FILE` (for that one)."""
    for_all: dict[str, Path] = {}
    for_one: dict[str, Path] = {}
    for entry in given:
        voice, _, file = entry.partition("=")
        if voice in voices and file:
            for_one[voice] = Path(file)
        elif for_all:
            raise InvalidRequestError(
                f"{entry!r} would be a second recording for all voices; write VOICE=FILE.", field="reference"
            )
        else:
            for_all = dict.fromkeys(voices, Path(entry))
    return for_all | for_one


def embedded(files: Mapping[str, Path], encoder: SpeakerEncoder) -> dict[str, Embedding]:
    """The speaker embedding of each voice's file; a file that several voices share is embedded once."""
    embeddings = {file: _embedding(file, encoder) for file in dict.fromkeys(files.values())}
    return {voice: embeddings[file] for voice, file in files.items()}


def _embedding(file: Path, encoder: SpeakerEncoder) -> Embedding:
    with file.open("rb") as source:
        data = source.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InvalidRequestError(f"{file} is over {MAX_BYTES} bytes; cut it.", field="reference")
    pcm, rate = decode(data, max_seconds=MAX_SECONDS, max_samples=MAX_SAMPLES)
    return encoder.embed(pcm, rate)
