"""Writing of ONNX graphs: layers that every network has, a folder that appears whole, and 8-bit copies."""

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy.typing as npt
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from polyvox.bundles.onnx_graphs.builder import GraphBuilder
from polyvox.errors import BundleError, InvalidRequestError


def as_array(weights: Tensor) -> npt.NDArray[Any]:
    """Weights as a float32 array for an initializer."""
    array: npt.NDArray[Any] = weights.detach().float().cpu().numpy()
    return array


def build_linear(graph: GraphBuilder, linear: nn.Linear, rows: str) -> str:
    product = graph.op("MatMul", rows, graph.constant(as_array(linear.weight.T)))
    return product if linear.bias is None else graph.op("Add", product, graph.constant(as_array(linear.bias)))


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
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


@contextmanager
def replaced_folder(folder: Path, mark: str) -> Iterator[Path]:
    """As `new_folder`, but a folder with the file `mark` in it, an earlier result, is replaced once it is complete."""
    if not folder.exists():
        with new_folder(folder) as part:
            yield part
        return
    if not (folder / mark).is_file():
        raise InvalidRequestError(
            f"{folder} exists and holds no earlier export; name a folder that does not exist.", field="to"
        )
    fresh, old = (folder.with_name(f".{folder.name}.{state}") for state in ("fresh", "old"))
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    with new_folder(fresh) as part:
        yield part
    try:
        folder.rename(old)
        fresh.rename(folder)
    except OSError as error:
        raise BundleError(f"{folder} could not be replaced: {error.strerror or error}.") from error
    shutil.rmtree(old, ignore_errors=True)


def write_int8(path: Path, operations: Sequence[str] = ("MatMul",)) -> Path:
    """Write the graph with int8 weights beside it; one scale for each column of a weight."""
    target = path.with_name(f"{path.stem}_int8.onnx")
    with _without_preprocessing_advice():
        quantize_dynamic(
            path, target, op_types_to_quantize=list(operations), weight_type=QuantType.QInt8, per_channel=True
        )
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
