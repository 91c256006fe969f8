"""ONNX Runtime sessions on the CPU."""

from pathlib import Path

import onnxruntime


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
    """The options of a session on so many threads."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = mem_pattern
    options.enable_cpu_mem_arena = arena
    # A spinning thread pool burns the cores that encoding and the other workers need.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
