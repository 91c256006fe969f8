"""Export of a PyTorch model folder to a folder of ONNX graphs, in full and in 8-bit precision."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import onnx

from polyvox.engines.kit.onnx_export import new_folder, write_int8
from polyvox.engines.zipvoice.bundle import load_single_speaker
from polyvox.engines.zipvoice.onnx_export.graphs import decoder_graph, text_graph
from polyvox.errors import InvalidRequestError
from polyvox.models.zipvoice.model import ZipVoice

_COPIED = ("model.json", "tokens.txt")
_GRAPHS: MappingProxyType[str, Callable[[ZipVoice], onnx.ModelProto]] = MappingProxyType(
    {"text_encoder": text_graph, "fm_decoder": decoder_graph}
)


def export(folder: Path, to: Path, *, int8: bool) -> list[Path]:
    """Export the base or the distilled model in `folder` to a new folder; returns the files written."""
    if to.exists():
        raise InvalidRequestError(f"{to} exists already; name a folder that does not.", field="to")
    network = load_single_speaker(folder)
    written: list[Path] = []
    with new_folder(to) as part:
        for name in _COPIED:
            written.append(Path(shutil.copyfile(folder / name, part / name)))
        written += write_graphs(network, part, int8=int8)
    return [to / path.name for path in written]


def write_graphs(network: ZipVoice, folder: Path, *, int8: bool) -> list[Path]:
    """Write the network's two graphs into a folder, and if asked both in 8-bit precision as well."""
    written = []
    for name, build in _GRAPHS.items():
        path = folder / f"{name}.onnx"
        onnx.save(build(network), path)
        written += [path, write_int8(path)] if int8 else [path]
    return written
