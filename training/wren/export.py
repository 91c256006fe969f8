"""`python -m training.wren.export`: write a checkpoint's student as the ONNX graphs that the server runs."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from polyvox.bundles.onnx_graphs.wren import KERNEL, wren_graphs
from polyvox.models.kokoro.wren import WrenConfig
from training.wren.checkpoint import load_student
from training.wren.ranges import read_ranges

SHIPPED = Path(__file__).parents[2] / "src" / "polyvox" / "engines" / "kokoro" / "wren" / "graphs"
_FIXED = (
    "kernel_size", "hop", "window", "fft", "noise_frames", "noise_fft", "noise_bands", "modulation_harmonics",
)  # fmt: skip
"""Sizes that the server's arithmetic between the graphs relies on."""


def check_exportable(config: WrenConfig) -> None:
    """Raise ValueError for a network that the server's decoder does not fit."""
    usual = WrenConfig()
    other = [name for name in _FIXED if getattr(config, name) != getattr(usual, name)]
    if other or config.refiner.kernel_size != KERNEL or config.refiner.per_frame != usual.refiner.per_frame:
        raise ValueError(f"The server decodes only networks with the usual {', '.join(other or ['refiner'])}.")
    if not config.utterance_dim or not config.refiner.blocks:
        raise ValueError("The server decodes only networks with an utterance encoder and a refiner.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the three graphs of one checkpoint, with the `ranges.json` beside it if there is one."""
    parser = argparse.ArgumentParser(prog="python -m training.wren.export", description=__doc__)
    parser.add_argument("student", type=Path, help="wren.safetensors of a checkpoint")
    parser.add_argument("folder", type=Path, nargs="?", default=SHIPPED, help="the package's own where left out")
    parser.add_argument("--precision", choices=("int8", "float32"), default="int8", help="of the stored weights")
    options = parser.parse_args(arguments)
    student = load_student(options.student)
    check_exportable(student.config)
    weights = {name: tensor.numpy() for name, tensor in student.state_dict().items()}
    graphs = wren_graphs(weights, options.precision, read_ranges(options.student.parent))
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in ("plan", "filters", "refiner"):
        (options.folder / f"{name}.onnx").write_bytes(getattr(graphs, name))


if __name__ == "__main__":
    main()
