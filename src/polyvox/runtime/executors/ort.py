"""ONNX Runtime as an executor of one graph."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from polyvox.errors import BundleError
from polyvox.onnx_session import open_session
from polyvox.runtime.cancellation import InferenceStoppedError, current_token


class OrtGraph:
    """One ONNX graph on the CPU, from a file or serialised. `run` may be called from several threads at once."""

    def __init__(self, model: Path | bytes, threads: int) -> None:
        # Inputs differ in length at every call.
        self._session = open_session(model, threads, mem_pattern=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(wanted.name for wanted in self._session.get_inputs())

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(output.name for output in self._session.get_outputs())

    def run(self, outputs: Sequence[str], inputs: dict[str, npt.NDArray[Any]]) -> list[npt.NDArray[np.float32]]:
        """The named outputs. The run stops between two nodes when the current token is cancelled; others go on."""
        token, options = current_token(), onnxruntime.RunOptions()
        try:
            with token.on_cancel(partial(setattr, options, "terminate", True)):
                results: list[npt.NDArray[np.float32]] = self._session.run(list(outputs), inputs, options)
        except Exception as error:
            # ONNX Runtime has no class of its own for a run that was stopped.
            if token.cancelled:
                raise InferenceStoppedError("The run of the graph was stopped.") from error
            raise
        return results


def open_graph(path: Path, threads: int) -> OrtGraph:
    """The graph in a file; BundleError says what is wrong with the file."""
    try:
        return OrtGraph(path, threads)
    except Exception as error:
        # ONNX Runtime raises classes of its own for every kind of broken file, all of them plain exceptions.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BundleError(f"{path} cannot be opened as a graph ({reason}); fetch the model again.") from error


def share_of_cores(workers: int) -> int:
    """Threads for one of `workers` calls that run side by side on the cores this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // workers)
