"""FrontCache: Kokoro's front as ONNX Runtime optimised it, kept beside the model that it was cut out of.

To cut it out and to optimise it takes four times as long as to open the result.
"""

import hashlib
import os
import platform
import stat
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO, Final

import onnxruntime
import structlog

from polyvox.bundles.disk import write_whole
from polyvox.onnx_session import open_session, session_options, signed_sums_saturate
from polyvox.private_files import make_private_folder, open_private

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_SOURCES: Final = ("builder.py", "kokoro_front.py", "node_rewrites.py")
"""The modules that decide on the graph; a graph that others made is not taken."""
_DIGEST_BYTES: Final = 32
_MAX_BYTES: Final = 100_000_000
_FOLDER: Final = ".optimised"
"""Among the models: no file of a bundle, whose files say which speech in the cache is theirs."""


class FrontCache:
    """One file beside the model's folder: digests of what it was made from and of its content, then the content.

    It is taken only if this user or root wrote it and nobody else can.
    """

    def __init__(self, model: Path, bert: Path) -> None:
        """Of an installed `model.onnx`, with the graph `bert` in ALBERT's place."""
        self._model, self._bert = model, bert
        bundle = model.parent
        self._path = bundle.with_name(_FOLDER) / f"{bundle.name}_front"

    def graph(self) -> bytes:
        """The serialised front: the kept one, or else one that is made now and kept where that can be written."""
        origin = _origin(self._model, self._bert)
        found = self._read(origin)
        if found is not None:
            return found
        from polyvox.bundles.onnx_graphs.kokoro_front import front_graph

        made = front_graph(self._model, self._bert)
        if origin is None:
            return made
        try:
            make_private_folder(self._path.parent)
            optimised = _optimised(made, self._path.parent)
            write_whole(self._path, origin + hashlib.sha256(optimised).digest() + optimised, opened=open_private)
        except OSError as error:
            log.debug("front not kept", path=str(self._path), reason=str(error))
        except Exception:  # ONNX Runtime's classes are plain exceptions
            log.exception("front not optimised")
        return made

    def _read(self, origin: bytes | None) -> bytes | None:
        try:
            with os.fdopen(os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                if origin is None or not _is_ours(file) or file.read(_DIGEST_BYTES) != origin:
                    return None
                digest, content = file.read(_DIGEST_BYTES), file.read(_MAX_BYTES)
        except OSError:
            return None
        return content if hashlib.sha256(content).digest() == digest else None


def _is_ours(file: BinaryIO) -> bool:
    state = os.fstat(file.fileno())
    is_safe = stat.S_ISREG(state.st_mode) and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return is_safe and state.st_uid in (0, os.geteuid())


def _origin(model: Path, bert: Path) -> bytes | None:
    """A digest of what the optimised front depends on; None where this package's sources are not there to be read."""
    sources = _sources()
    if sources is None:
        return None
    state = model.stat()  # a bundle whose file has another time is hashed before it is loaded
    machine = (onnxruntime.__version__, platform.machine(), signed_sums_saturate())
    smaller = hashlib.sha256(bert.read_bytes()).hexdigest()
    return hashlib.sha256(repr((sources, smaller, state.st_size, state.st_mtime_ns, machine)).encode()).digest()


@cache
def _sources() -> str | None:
    folder = files("polyvox.bundles.onnx_graphs")
    try:
        return hashlib.sha256(b"\0".join((folder / name).read_bytes() for name in _SOURCES)).hexdigest()
    except OSError:
        return None


def _optimised(graph: bytes, folder: Path) -> bytes:
    """A graph after the optimisations that are the same on all processors of a kind."""
    with tempfile.TemporaryDirectory(prefix=".front-", dir=folder) as work:
        options = session_options(1, mem_pattern=False)
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(Path(work) / "front.onnx")
        onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        optimised = Path(options.optimized_model_filepath).read_bytes()
        open_session(optimised, mem_pattern=False)  # as it will be opened: one that is cut short is not kept
        return optimised
