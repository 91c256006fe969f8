"""`python -m training.wren.held_out`: held-out sentences by teacher and student, in one archive to score."""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from polyvox.models.kokoro.wren import Wren
from training.wren.checkpoint import load_student
from training.wren.features import GRAPH_GAIN, synthesize
from training.wren.teacher import Request, Teacher
from training.wren.voices import StyleTables

_OTHER_SENTENCES = 2

SPEAKERS: Mapping[str, Mapping[str, float]] = {
    **{
        name: {name: 1.0}
        for name in (
            "af_heart", "af_bella", "af_nicole", "am_michael", "am_puck", "bf_emma", "bm_george", "bm_fable",
            "ef_dora", "ff_siwis", "jf_alpha", "zf_xiaobei",
        )
    },
    "mix_1": {"af_heart": 0.6, "am_michael": 0.4},
    "mix_2": {"bf_emma": 0.5, "af_sky": 0.3, "am_onyx": 0.2},
    "mix_3": {"af_bella": 0.5, "ff_siwis": 0.5},
}  # fmt: skip
"""Twelve voices, four of them not English, and three mixes that speak English."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A held-out text with its phoneme ids; `language` is the first letter of its voices' names."""

    language: str
    text: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """One sentence of one speaker by teacher and student, at 24 kHz."""

    speaker: str
    language: str
    text: str
    teacher: npt.NDArray[np.float32]
    student: npt.NDArray[np.float32]


def read_sentences(file: Path) -> list[Sentence]:
    """Read `held_out.json`, as `training.wren.corpus` writes it."""
    return [
        Sentence(row["language"], row["text"], tuple(row["ids"]))
        for row in json.loads(file.read_text(encoding="utf-8"))
    ]


def sentences_of(sentences: Sequence[Sentence], speaker: str, index: int, count: int) -> list[Sentence]:
    """Sentences of the speaker at this index: different ones for each English speaker, two in other languages."""
    letter = "a" if speaker.startswith("mix") else speaker[0]
    own = [sentence for sentence in sentences if sentence.language == letter]
    if letter not in "ab":
        return own[: min(count, _OTHER_SENTENCES)]
    return [own[(index * count + offset) % len(own)] for offset in range(count)]


def write_archive(
    teacher: Teacher, student: Wren, voices: StyleTables, sentences: Sequence[Sentence], file: Path, count: int = 3
) -> None:
    """Synthesize every speaker's sentences by both and write them."""

    def recorded() -> Iterator[Recording]:
        for index, (speaker, weights) in enumerate(SPEAKERS.items()):
            for sentence in sentences_of(sentences, speaker, index, count):
                request = Request(sentence.ids, voices.style(weights, len(sentence.ids)))
                (example,) = teacher.synthesize([request])
                samples = example.samples * GRAPH_GAIN, synthesize(student, example.features)
                pair = (each.float().cpu().numpy() for each in samples)
                yield Recording(speaker, sentence.language, sentence.text, *pair)

    save_recordings(recorded(), file)


def save_recordings(recordings: Iterable[Recording], file: Path) -> None:
    """Write recordings as 16-bit samples."""
    arrays: dict[str, npt.NDArray[np.int16]] = {}
    rows: list[dict[str, str]] = []
    for row in recordings:
        arrays[f"{len(rows)}.teacher"], arrays[f"{len(rows)}.student"] = _int16(row.teacher), _int16(row.student)
        rows.append({"speaker": row.speaker, "language": row.language, "text": row.text})
    index_bytes = np.frombuffer(json.dumps(rows).encode(), dtype=np.uint8)
    np.savez_compressed(file, listed=index_bytes, **arrays)  # type: ignore[arg-type]


def read_archive(file: Path) -> Iterator[Recording]:
    """Read what `write_archive` wrote."""
    with np.load(file) as stored:
        for number, row in enumerate(json.loads(stored["listed"].tobytes())):
            teacher, student = (
                stored[f"{number}.{side}"].astype(np.float32) / 32_768 for side in ("teacher", "student")
            )
            yield Recording(row["speaker"], row["language"], row["text"], teacher, student)


def _int16(samples: npt.NDArray[np.float32]) -> npt.NDArray[np.int16]:
    return np.round(np.clip(np.nan_to_num(samples), -1, 1) * 32_767).astype(np.int16)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the archive of a checkpoint's student, on the CPU."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.held_out", description=__doc__)
    parser.add_argument("student", type=Path, help="wren.safetensors of a checkpoint")
    parser.add_argument("data", type=Path, help="folder of held_out.json")
    parser.add_argument("kokoro", type=Path, help="Kokoro's bundle: model.onnx and voices/")
    parser.add_argument("archive", type=Path, help="file to write, .npz")
    parser.add_argument("--sentences", type=int, default=3, help="of each English speaker")
    parser.add_argument("--seed", type=int, default=1, help="of the noise")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    device = torch.device("cpu")
    teacher = Teacher(options.kokoro / "model.onnx", device)
    voices = StyleTables.read(options.kokoro / "voices", device)
    sentences = read_sentences(options.data / "held_out.json")
    write_archive(teacher, load_student(options.student), voices, sentences, options.archive, options.sentences)


if __name__ == "__main__":
    main()
