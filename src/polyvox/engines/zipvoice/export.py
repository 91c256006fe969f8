"""A ZipVoice model for PyTorch as one of ONNX graphs, in full and in 8-bit precision."""

import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic

from polyvox.engines.zipvoice.bundle import load_speaking_alone
from polyvox.engines.zipvoice.drawn_zipvoice import decoder_graph, text_graph
from polyvox.errors import BundleError, InvalidRequestError
from polyvox.models.zipvoice.model import ZipVoice

_COPIED = ("model.json", "tokens.txt")
_GRAPHS: MappingProxyType[str, Callable[[ZipVoice], onnx.ModelProto]] = MappingProxyType(
    {"text_encoder": text_graph, "fm_decoder": decoder_graph}
)


def export(folder: Path, to: Path, *, int8: bool) -> list[Path]:
    """Write the graphs of the base or the distilled model in `folder`, and what goes with them, into a new folder."""
    if to.exists():
        raise InvalidRequestError(f"{to} exists already; name a folder that does not.", field="to")
    network = load_speaking_alone(folder)
    written: list[Path] = []
    with _made(to) as making:
        for name in _COPIED:
            written.append(Path(shutil.copyfile(folder / name, making / name)))
        written += write_graphs(network, making, int8=int8)
    return [to / path.name for path in written]


def write_graphs(network: ZipVoice, folder: Path, *, int8: bool) -> list[Path]:
    """The network's two graphs as files of a folder, and if asked both in 8-bit precision as well."""
    written = []
    for name, drawn in _GRAPHS.items():
        path = folder / f"{name}.onnx"
        onnx.save(drawn(network), path)
        written += [path, _quantised(path)] if int8 else [path]
    return written


@contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """A folder that has its name only once it is whole."""
    making = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    try:
        making.mkdir(parents=True)
        yield making
        making.rename(folder)
    except OSError as error:
        raise BundleError(f"{folder} could not be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _quantised(path: Path) -> Path:
    """The graph beside it whose products with weights are of 8-bit numbers; one scale for each column of a weight."""
    target = path.with_name(f"{path.stem}_int8.onnx")
    with _without_advice():
        quantize_dynamic(path, target, op_types_to_quantize=["MatMul"], weight_type=QuantType.QInt8, per_channel=True)
    return target


@contextmanager
def _without_advice() -> Iterator[None]:
    """ONNX Runtime recommends a step before quantising, by the root logger; it is of no use to graphs drawn by hand."""
    root = logging.getLogger()

    def other(record: logging.LogRecord) -> bool:
        return "pre-processing before quantization" not in record.getMessage()

    root.addFilter(other)
    try:
        yield
    finally:
        root.removeFilter(other)
