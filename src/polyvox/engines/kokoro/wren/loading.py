"""Load Kokoro's front from its bundle, and Wren from this package."""

import threading
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from polyvox.engines.kokoro.wren.decoder import WrenDecoder
from polyvox.engines.kokoro.wren.front import KokoroFront
from polyvox.engines.kokoro.wren.model import WrenModel

_loaded: Final[WeakValueDictionary[tuple[Path, int, int], WrenModel]] = WeakValueDictionary()
_loading: Final = threading.Lock()


def load_wren(kokoro: Path, threads: int) -> WrenModel:
    """The network, with the front of an installed `model.onnx`; blocks for about a second.

    The models `wren` and `kokoro`, where it has the same decoder, share one while either is loaded.
    """
    key = (kokoro, kokoro.stat().st_mtime_ns, threads)
    with _loading:
        found = _loaded.get(key)
        if found is None:
            with as_file(files("polyvox.engines.kokoro.wren") / "graphs") as folder:
                found = _loaded[key] = WrenModel(
                    KokoroFront(kokoro, folder / "bert.onnx", threads), WrenDecoder(folder, threads)
                )
        return found
