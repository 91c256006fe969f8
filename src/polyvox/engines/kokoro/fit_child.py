"""A process of its own for one fit: a recording on its input, progress and the style in lines of JSON on its output.

It writes no file, so whoever ends it has nothing to tidy up; when the process that started it is gone, it ends too.
"""

import json
import os
import sys
import threading
from pathlib import Path
from typing import BinaryIO

import numpy as np

from polyvox.engines.kit.fit_protocol import FitRequest
from polyvox.errors import BundleError, PolyvoxError
from polyvox.types import Pcm

_NICENESS = 5
_MOST_SAMPLES = 1 << 26


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the one request."""
    request = FitRequest(**json.loads(source.readline()))
    if not 0 < request.samples <= _MOST_SAMPLES:
        raise ValueError("no recording")
    pcm = np.frombuffer(source.read(4 * request.samples), "<f4").astype(np.float32)
    threading.Thread(target=_end_with, args=(source,), daemon=True).start()
    try:
        _fit(request, pcm, sink)
    except PolyvoxError as error:
        _tell(sink, {"error": error.message, "missing": isinstance(error, BundleError)})


def _fit(request: FitRequest, pcm: Pcm, sink: BinaryIO) -> None:
    from polyvox.engines.kokoro.fitter import Fitter

    if request.threads:
        import torch

        torch.set_num_threads(request.threads)
    fitter = Fitter(Path(request.models_dir))
    steps = request.steps or fitter.usual_steps
    _tell(sink, {"step": 0, "steps": steps, "similarity": None})
    style = fitter.fit(
        pcm,
        request.sample_rate,
        steps=steps,
        seed=request.seed,
        told=lambda step, likeness: _tell(sink, {"step": step, "steps": steps, "similarity": round(likeness, 4)}),
    )
    _tell(sink, {"style": style.as_report()})


def _tell(sink: BinaryIO, what: dict[str, object]) -> None:
    sink.write(json.dumps(what).encode() + b"\n")
    sink.flush()


def _end_with(source: BinaryIO) -> None:
    """Wait for the end of the input, which comes when the other side closes it or is no more."""
    source.read(1)
    os._exit(1)


def answers_alone() -> BinaryIO:
    """This process's output, for answers and nothing else: what anybody prints from now on goes where errors go."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


if __name__ == "__main__":
    os.nice(_NICENESS)
    serve(sys.stdin.buffer, answers_alone())
