"""Export of a PyTorch model folder to a folder of ONNX graphs, in full and in 8-bit precision."""

import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic

from polyvox.engines.zipvoice.bundle import load_single_speaker
from polyvox.engines.zipvoice.onnx_export.graphs import decoder_graph, text_graph
from polyvox.errors import BundleError, InvalidRequestError
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
    with _new_folder(to) as part:
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
        written += [path, _quantize(path)] if int8 else [path]
    return written


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A folder that gets its name only once it is complete."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        yield part
        part.rename(folder)
    except OSError as error:
        raise BundleError(f"{folder} could not be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _quantize(path: Path) -> Path:
    """Write the graph with int8 weights beside it; one scale for each column of a weight."""
    target = path.with_name(f"{path.stem}_int8.onnx")
    with _without_preprocessing_advice():
        quantize_dynamic(path, target, op_types_to_quantize=["MatMul"], weight_type=QuantType.QInt8, per_channel=True)
    return target


@contextmanager
def _without_preprocessing_advice() -> Iterator[None]:
    """Drop ONNX Runtime's advice, by the root logger, to preprocess a graph first: these have nothing to fold."""
    root = logging.getLogger()

    def other(record: logging.LogRecord) -> bool:
        return "pre-processing before quantization" not in record.getMessage()

    root.addFilter(other)
    try:
        yield
    finally:
        root.removeFilter(other)
