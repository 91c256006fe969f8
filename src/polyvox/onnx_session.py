"""ONNX Runtime sessions on the CPU."""

import platform
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

_EXACT_ON_X86 = "session.x64quantprecision"
"""Signed 8-bit weights beyond 7 bits become unsigned ones when a graph is loaded: the same sums by slower kernels."""

_PROBE = """
<ir_version: 8, opset_import: ["": 17]>
probe (uint8[2, 32] activations) => (int32[2, 16] sums) {
    weight = Constant <value_int: int = 127> ()
    narrow = Cast <to: int = 3> (weight)
    shape = Constant <value_ints: ints = [32, 16]> ()
    weights = Expand (narrow, shape)
    sums = MatMulInteger (activations, weights)
}
"""
"""A product of a layer's largest weights; ONNX Runtime folds them to a constant, as those of a network are."""


def open_session(
    model: Path | bytes, threads: int = 1, *, mem_pattern: bool = True, arena: bool = True
) -> onnxruntime.InferenceSession:
    """Open a model file, or a serialised model, for `run` from any number of threads.

    Turn `mem_pattern` off where inputs differ in length at every call: a remembered memory plan then never fits. Turn
    `arena` off where memory kept from the last call would only add up.
    """
    options = session_options(threads, mem_pattern=mem_pattern, arena=arena)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def session_options(threads: int, *, mem_pattern: bool = True, arena: bool = True) -> onnxruntime.SessionOptions:
    """The options of a session on so many threads, in which no sum of 8-bit products saturates."""
    return _options(threads, mem_pattern=mem_pattern, arena=arena, exact=signed_sums_saturate())


@cache
def signed_sums_saturate() -> bool:
    """Return whether ONNX Runtime's signed 8-bit products are wrong on this processor, found by trying one.

    x86 processors without 8-bit dot products (VNNI, AMX) add two products in 16 bits, which holds them for weights of
    7 bits only.
    """
    return platform.machine().lower() in ("x86_64", "amd64") and not np.array_equal(*probe_sums(exact=False))


def probe_sums(*, exact: bool) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The largest sums of 8-bit products as ONNX Runtime computes them here, and as they are."""
    from onnx import parser

    options = _options(1, mem_pattern=True, arena=False, exact=exact)
    probe = parser.parse_model(_PROBE).SerializeToString()
    session = onnxruntime.InferenceSession(probe, options, providers=["CPUExecutionProvider"])
    activations = np.full((2, 32), 255, np.uint8)
    (sums,) = session.run(None, {"activations": activations})
    return sums, np.full((2, 16), 32 * 255 * 127, np.int32)


def _options(threads: int, *, mem_pattern: bool, arena: bool, exact: bool) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = mem_pattern
    # Which tensors may share memory is found by comparing each with each: more than half of the time in which a graph
    # of a thousand nodes loads. Where lengths differ at every call, hardly any pair is known to be of one size.
    options.enable_mem_reuse = mem_pattern
    options.enable_cpu_mem_arena = arena
    # A spinning thread pool burns the cores that encoding and the other workers need.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry(_EXACT_ON_X86, str(int(exact)))
    return options
