"""A process of its own for one recording: it reads the file from its input, writes the samples to its output, and ends.

Whatever a hostile file does to the decoder happens here, where no file can be opened or written, no connection made,
and memory and processor time run out early.
"""

import resource
import struct
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np

from polyvox.audio.decode import decode
from polyvox.audio.encode import wav_header
from polyvox.errors import AudioDecodeError

READY = b"\x06"
"""Written once the process is confined; what fails before is this server's fault, what fails after is the file's."""

REQUEST = struct.Struct("<dQQ")
"""Most seconds, most samples, and the length of the file that follows."""

REPLY = struct.Struct("<BIBQ")
"""What follows (`SAMPLES` or `REFUSAL`), the rate, the channels, and the length in bytes."""

SAMPLES = 1
REFUSAL = 2

CPU_SECONDS = 3
MEMORY = 200 * 1024 * 1024
"""What the process may take beyond what it holds once it has started."""


def rehearse() -> None:
    """Decode a moment of silence, so that what the libraries load late is loaded while files can be opened."""
    decode(wav_header(8_000, 1, 200) + bytes(200), max_seconds=1.0, max_samples=1_000)


def confine() -> None:
    """Give up what decoding does not need. The open input, output and error stream stay usable."""
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: CPU_SECONDS,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NPROC: 0,
    }
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limits[resource.RLIMIT_AS] = pages * resource.getpagesize() + MEMORY
    limits[resource.RLIMIT_NOFILE] = 0
    for what, most in limits.items():
        resource.setrlimit(what, (most, most))


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the one request."""
    max_seconds, max_samples, size = REQUEST.unpack(source.read(REQUEST.size))
    try:
        pcm, rate = decode(source.read(size), max_seconds=max_seconds, max_samples=max_samples)
    except AudioDecodeError as error:
        message = error.message.encode()
        sink.write(REPLY.pack(REFUSAL, 0, 0, len(message)) + message)
    else:
        samples = np.ascontiguousarray(pcm, dtype="<f4")
        sink.write(REPLY.pack(SAMPLES, rate, 1 if pcm.ndim == 1 else pcm.shape[1], samples.nbytes))
        sink.write(samples.data)
    sink.flush()


if __name__ == "__main__":
    rehearse()
    confine()
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    serve(sys.stdin.buffer, sys.stdout.buffer)
