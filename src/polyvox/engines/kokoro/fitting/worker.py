"""Worker process of one fit: reads a recording from standard input, writes progress and the style as lines of JSON.

It writes no file, so it can be killed at any time without cleaning up; it exits when its parent is gone.
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
_MAX_SAMPLES = 1 << 26


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the one request."""
    request = FitRequest(**json.loads(source.readline()))
    if not 0 < request.samples <= _MAX_SAMPLES:
        raise ValueError("the request has no recording or one that is too long")
    pcm = np.frombuffer(source.read(4 * request.samples), "<f4").astype(np.float32)
    threading.Thread(target=_exit_at_end_of, args=(source,), daemon=True).start()
    try:
        _fit(request, pcm, sink)
    except PolyvoxError as error:
        _send(sink, {"error": error.message, "missing": isinstance(error, BundleError)})


def _fit(request: FitRequest, pcm: Pcm, sink: BinaryIO) -> None:
    from polyvox.engines.kokoro.fitting.fitter import Fitter

    if request.threads:
        import torch

        torch.set_num_threads(request.threads)
    fitter = Fitter(Path(request.models_dir))
    steps = request.steps or fitter.default_steps
    _send(sink, {"step": 0, "steps": steps, "similarity": None})
    style = fitter.fit(
        pcm,
        request.sample_rate,
        steps=steps,
        seed=request.seed,
        on_step=lambda step, similarity: _send(
            sink, {"step": step, "steps": steps, "similarity": round(similarity, 4)}
        ),
    )
    _send(sink, {"style": style.as_report()})


def _send(sink: BinaryIO, message: dict[str, object]) -> None:
    sink.write(json.dumps(message).encode() + b"\n")
    sink.flush()


def _exit_at_end_of(source: BinaryIO) -> None:
    """Exit at the end of the input, which comes when the parent closes it or is gone."""
    source.read(1)
    os._exit(1)


def exclusive_output() -> BinaryIO:
    """Take standard output for answers alone: from now on, whatever is printed goes to standard error."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


if __name__ == "__main__":
    os.nice(_NICENESS)
    serve(sys.stdin.buffer, exclusive_output())
