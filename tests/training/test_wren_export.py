"""Graphs for the server from a checkpoint."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from safetensors.torch import save_file  # noqa: E402

from helpers.tables import each_row  # noqa: E402
from helpers.tiny_wren import CONFIG, tiny_wren, write_tiny_wren  # noqa: E402
from polyvox.models.kokoro.wren import WrenConfig  # noqa: E402
from polyvox.models.kokoro.wren_refiner import RefinerConfig  # noqa: E402
from training.wren import export  # noqa: E402
from training.wren.checkpoint import Progress  # noqa: E402


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_the_command_writes_the_graphs_of_a_checkpoint(tmp_path: Path, precision) -> None:
    metadata = {"config": json.dumps(asdict(CONFIG)), "progress": json.dumps(asdict(Progress()))}
    weights = {name: tensor.clone() for name, tensor in tiny_wren().state_dict().items()}
    save_file(weights, tmp_path / "wren.safetensors", metadata)
    export.main([str(tmp_path / "wren.safetensors"), str(tmp_path / "graphs"), "--precision", precision])
    write_tiny_wren(tmp_path, precision)
    for name in ("plan", "filters", "refiner"):
        assert (tmp_path / "graphs" / f"{name}.onnx").read_bytes() == (tmp_path / f"{name}.onnx").read_bytes()


@each_row(
    ("config", "lacking"),
    [
        (WrenConfig(), "an utterance encoder and a refiner"),
        (replace(CONFIG, fft=2048), "the usual fft"),
        (replace(CONFIG, refiner=RefinerConfig(10, 2, kernel_size=5)), "the usual refiner"),
    ],
)
def test_a_network_that_the_server_cannot_decode_is_refused(config: WrenConfig, lacking: str) -> None:
    with pytest.raises(ValueError, match=lacking):
        export.check_exportable(config)


@pytest.mark.long
def test_the_graphs_of_the_package_are_those_of_the_checkpoint(tmp_path: Path) -> None:
    export.main([str(Path(export.__file__).parent / "checkpoint" / "wren.safetensors"), str(tmp_path)])
    written = {file.name for file in tmp_path.glob("*.onnx")}
    assert written | {"bert.onnx"} == {file.name for file in export.SHIPPED.glob("*.onnx")}
    for file in (export.SHIPPED / name for name in written):
        assert file.read_bytes() == (tmp_path / file.name).read_bytes(), (
            f"run python -m training.wren.export: {file.name}"
        )
