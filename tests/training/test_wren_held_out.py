"""The archive of held-out sentences that a checkpoint is scored by."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

import training.wren  # noqa: E402
from training.wren import held_out  # noqa: E402
from training.wren.features import GRAPH_GAIN, Features  # noqa: E402
from training.wren.teacher import Example  # noqa: E402

STUDENT = Path(training.wren.__file__).parent / "checkpoint" / "wren.safetensors"
FRAMES, LEVEL = 4, 0.2


class ConstantTeacher:
    """Says everything as a constant, so that a recording shows where it came from."""

    def __init__(self, model: Path, device: torch.device) -> None:
        assert model.name == "model.onnx"

    def synthesize(self, requests):
        text, pitch = torch.zeros(512, FRAMES), torch.full((2 * FRAMES,), 120.0)
        return [
            Example(Features(text, pitch, torch.zeros(2 * FRAMES), request.style[:128]), torch.full((2400,), LEVEL))
            for request in requests
        ]


def write(folder: Path, name: str, *options: str) -> list[held_out.Recording]:
    """Run the command in this folder and read its archive."""
    arguments = [str(STUDENT), str(folder), str(folder), str(folder / name), "--sentences", "1", *options]
    held_out.main(arguments)
    return list(held_out.read_archive(folder / name))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(held_out, "Teacher", ConstantTeacher)
    names = {name for weights in held_out.SPEAKERS.values() for name in weights}
    (tmp_path / "voices").mkdir()
    for name in names:
        np.zeros((3, 256), "<f4").tofile(tmp_path / "voices" / f"{name}.bin")
    rows = [{"language": letter, "text": f"In {letter}.", "ids": [1, 2]} for letter in "abefjz"]
    (tmp_path / "held_out.json").write_text(json.dumps(rows))
    return tmp_path


@pytest.mark.long
def test_every_speaker_says_a_sentence_of_its_language(folder: Path) -> None:
    recordings = write(folder, "one.npz")
    assert [row.speaker for row in recordings] == list(held_out.SPEAKERS)
    assert {row.speaker: row.text for row in recordings}["jf_alpha"] == "In j."
    assert {row.speaker: row.text for row in recordings}["mix_2"] == "In a."
    assert all(row.teacher == pytest.approx(LEVEL * GRAPH_GAIN, abs=1e-3) for row in recordings)
    assert all(row.student.shape == (FRAMES * 600,) for row in recordings)


@pytest.mark.long
def test_the_seed_decides_the_noise(folder: Path) -> None:
    first, again, other = (
        write(folder, f"{name}.npz", "--seed", seed)[0].student
        for name, seed in (("first", "1"), ("again", "1"), ("other", "2"))
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
