"""TensorRT as an executor of ONNX graphs on a GPU, with the engines it builds kept on the disk."""

import hashlib
import importlib
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
import torch
from torch import Tensor

from polyvox.extras import TENSORRT

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Lengths = Mapping[str, tuple[int, int, int]]
"""The shortest, the usual and the longest of each length that varies, by its name."""

Untyped = Any
"""The module `tensorrt` and what it makes have no types."""

_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class TensorRtOptions:
    """Options of the build of engines, and the folder that keeps them."""

    cache: Path
    fp16: bool = False
    workspace_bytes: int = 4 << 30


@dataclass(frozen=True, slots=True)
class TensorRtSource:
    """A graph's file with its hash, the shapes of its inputs, and the lengths for which the engine is optimised."""

    path: Path
    sha256: str
    inputs: Mapping[str, Sequence[int | str]]
    lengths: Lengths

    def shapes(self, name: str) -> list[tuple[int, ...]]:
        """The shortest, the usual and the longest shape of an input."""
        return [
            tuple(side if isinstance(side, int) else self.lengths[side][which] for side in self.inputs[name])
            for which in range(3)
        ]


def import_tensorrt() -> Untyped:
    """The module `tensorrt`; RuntimeError with the remedy where it is not installed."""
    try:
        return importlib.import_module("tensorrt")
    except ImportError as error:
        raise RuntimeError(TENSORRT.absence) from error


class TensorRtGraph:
    """One graph as an engine. Inputs and outputs stay on the device, on the caller's stream."""

    def __init__(
        self,
        source: TensorRtSource,
        options: TensorRtOptions,
        tensorrt: Untyped,
        device: torch.device,
    ) -> None:
        self._tensorrt, self._device = tensorrt, device
        self._logger = tensorrt.Logger(tensorrt.Logger.WARNING)
        # An engine is only valid as long as the runtime that read it.
        self._runtime = tensorrt.Runtime(self._logger)
        self._engine = self._load_or_build(source, options)
        self._context = self._engine.create_execution_context()
        names = [self._engine.get_tensor_name(index) for index in range(self._engine.num_io_tensors)]
        output = tensorrt.TensorIOMode.OUTPUT
        self._outputs = [name for name in names if self._engine.get_tensor_mode(name) == output]
        self._dtypes = {name: self._torch_dtype(name) for name in names}

    def __call__(self, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
        inputs = {name: self._input(name, tensor) for name, tensor in given.items()}
        outputs = {name: self._output(name) for name in self._outputs}
        stream = torch.cuda.current_stream(self._device).cuda_stream if self._device.type == "cuda" else 0
        if not self._context.execute_async_v3(stream):
            raise RuntimeError("TensorRT could not run the engine")
        del inputs  # alive until here: the engine has only their addresses
        return outputs

    def _input(self, name: str, tensor: Tensor) -> Tensor:
        ready = tensor.to(self._device, self._dtypes[name]).contiguous()
        if not self._context.set_input_shape(name, tuple(ready.shape)):
            raise RuntimeError(f"the engine was built for other shapes of {name} than {tuple(ready.shape)}")
        return self._bound(name, ready)

    def _output(self, name: str) -> Tensor:
        shape = tuple(self._context.get_tensor_shape(name))
        made = torch.empty(shape, dtype=self._dtypes[name], device=self._device)
        self._bound(name, made)
        return made

    def _bound(self, name: str, tensor: Tensor) -> Tensor:
        """Tell the engine where a tensor lies; an empty one needs an address as well."""
        held = tensor if tensor.numel() else tensor.new_zeros(1)
        self._context.set_tensor_address(name, held.data_ptr())
        return held

    def _torch_dtype(self, name: str) -> torch.dtype:
        kinds = self._tensorrt.DataType
        known = {
            kinds.FLOAT: torch.float32,
            kinds.HALF: torch.float16,
            kinds.INT32: torch.int32,
            kinds.INT64: torch.int64,
        }
        found: torch.dtype = known[self._engine.get_tensor_dtype(name)]
        return found

    def _load_or_build(self, source: TensorRtSource, options: TensorRtOptions) -> Untyped:
        path = options.cache / self._file_name(source, options)
        plan = read_plan(path)
        engine = None if plan is None else self._runtime.deserialize_cuda_engine(plan)
        if engine is None:
            plan = self._build(source, options)
            write_plan(path, plan)
            engine = self._runtime.deserialize_cuda_engine(plan)
        if engine is None:
            raise RuntimeError(f"TensorRT cannot read the engine that it built from {source.path.name}")
        return engine

    def _file_name(self, source: TensorRtSource, options: TensorRtOptions) -> str:
        """A name of its own for each graph, GPU, release of TensorRT, precision and set of lengths."""
        gpu = torch.cuda.get_device_name(self._device) if self._device.type == "cuda" else "cpu"
        lengths = hashlib.sha256(repr(sorted(source.lengths.items())).encode()).hexdigest()[:8]
        parts = (source.sha256[:32], gpu, self._tensorrt.__version__, "fp16" if options.fp16 else "fp32", lengths)
        return "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", part) for part in parts) + ".plan"

    def _build(self, source: TensorRtSource, options: TensorRtOptions) -> bytes:
        tensorrt = self._tensorrt
        log.info("TensorRT builds an engine, which takes minutes.", graph=source.path.name, fp16=options.fp16)
        builder = tensorrt.Builder(self._logger)
        network = builder.create_network(0)
        parser = tensorrt.OnnxParser(network, self._logger)
        if not parser.parse(source.path.read_bytes()):
            reason = parser.get_error(0) if parser.num_errors else "unknown"
            raise RuntimeError(f"TensorRT cannot read {source.path.name}: {reason}")
        config = builder.create_builder_config()
        config.set_memory_pool_limit(tensorrt.MemoryPoolType.WORKSPACE, options.workspace_bytes)
        if options.fp16:
            config.set_flag(tensorrt.BuilderFlag.FP16)
        profile = builder.create_optimization_profile()
        for name in source.inputs:
            profile.set_shape(name, *source.shapes(name))
        config.add_optimization_profile(profile)
        plan = builder.build_serialized_network(network, config)
        if plan is None:
            raise RuntimeError(f"TensorRT could not build an engine from {source.path.name}; its log says why")
        return bytes(plan)


def read_plan(path: Path) -> bytes | None:
    """An engine from the disk; None where there is none, or where it may not be as this user wrote it."""
    try:
        with path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            content = stream.read()
    except FileNotFoundError:
        return None
    digest, plan = content[:_DIGEST], content[_DIGEST:]
    # An engine is code: one that others could have written is not loaded.
    own = status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if own and hashlib.sha256(plan).digest() == digest:
        return plan
    log.warning("A TensorRT engine on the disk is damaged, or others may write it; it is built again.", file=str(path))
    return None


def write_plan(path: Path, plan: bytes) -> None:
    """Write an engine with its hash before it, atomically, for this user only."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(plan).digest() + plan)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
