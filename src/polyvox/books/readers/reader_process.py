"""Reading of manuscripts from strangers, in a child process with limits on memory and time."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from dataclasses import asdict

import structlog

from polyvox.books.manuscript import Manuscript, ManuscriptLimits
from polyvox.books.readers import reader_child
from polyvox.errors import ManuscriptError, UnavailableError

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_STARTING_SECONDS = 15.0
# It finds its modules where this process does, and nothing of this one's environment, where keys may be.
_PROGRAM = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"


async def read_manuscript_apart(data: bytes, name: str, limits: ManuscriptLimits = ManuscriptLimits()) -> Manuscript:
    """As `read_manuscript`, but a file that takes too long or too much memory harms nobody else."""
    if len(data) > limits.file_bytes:
        raise ManuscriptError(
            f"The manuscript is larger than {limits.file_bytes:,} bytes; split it into parts.", field="file"
        )
    program = _PROGRAM.format(path=sys.path, module=reader_child.__name__)
    environment = {"OPENBLAS_NUM_THREADS": "1"}
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-c", program, stdin=PIPE, stdout=PIPE, cwd="/", env=environment
        )
    except OSError as error:
        raise UnavailableError(f"The reader of manuscripts cannot be started: {error.strerror}.") from error
    request = json.dumps({"name": name, "limits": asdict(limits)}).encode() + b"\n" + data
    try:
        async with asyncio.timeout(limits.seconds + _STARTING_SECONDS):
            answer, _ = await child.communicate(request)
    except TimeoutError:
        raise ManuscriptError(
            "The manuscript takes too long to read; save it anew, or in parts.", field="file"
        ) from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return await asyncio.to_thread(_read_answer, answer, child.returncode)


def _read_answer(answer: bytes, status: int | None) -> Manuscript:
    try:
        lines = [json.loads(line) for line in answer.splitlines()]
        if lines and "refused" in lines[0]:
            raise ManuscriptError(lines[0]["refused"], field="file")
        return reader_child.from_lines(lines)
    except ValueError:
        log.warning("the reader of a manuscript ended early", status=status)
        raise ManuscriptError("The manuscript cannot be read; save it anew, or in parts.", field="file") from None
