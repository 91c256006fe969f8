"""Load Kokoro's front from its bundle, and Wren from this package."""

from importlib.resources import as_file, files
from pathlib import Path

from polyvox.engines.kokoro.wren.decoder import WrenDecoder
from polyvox.engines.kokoro.wren.front import KokoroFront
from polyvox.engines.kokoro.wren.model import WrenModel


def load_wren(kokoro: Path, threads: int) -> WrenModel:
    """The network, with the front of an installed `model.onnx`; blocks for about a second."""
    with as_file(files("polyvox.engines.kokoro.wren") / "graphs") as folder:
        return WrenModel(KokoroFront(kokoro, threads), WrenDecoder(folder, threads))
