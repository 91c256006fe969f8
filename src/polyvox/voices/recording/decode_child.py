"""Sandboxed child processes that decode one recording each: file on standard input, samples on standard output.

They are forked by a process that has loaded the decoder and never sees a recording. An exploit of the decoder is
confined to its child: it cannot open or write files or make connections, and memory and CPU time are limited.
"""

import json
import resource
import struct
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np

from polyvox import fork_server
from polyvox.audio.decode import decode, read_tags
from polyvox.audio.encode import wav_header
from polyvox.errors import AudioDecodeError

READY = b"\x06"
"""Written once the process is sandboxed; an earlier failure is the server's fault, a later one the file's."""

REQUEST = struct.Struct("<d?IQQ")
"""Maximum seconds, whether tags are wanted, the rate to reduce to in mono or 0, maximum samples, length of the file."""

REPLY = struct.Struct("<BIBQ")
"""Kind of the payload (`SAMPLES` or `REFUSAL`), sample rate, channels, and length in bytes."""

TAGS = struct.Struct("<I")
"""Length of the tags, a JSON object; they follow the payload where they are wanted."""

SAMPLES = 1
REFUSAL = 2

MEMORY = 200 * 1024 * 1024
"""Bytes that the process may allocate beyond what it has at its start."""


def warm_up() -> None:
    """Decode some silence, so that lazily loaded libraries are loaded while files can still be opened."""
    tagged = wav_header(8_000, 1, 200, {"MODEL": "none"}) + bytes(200)
    decode(tagged, max_seconds=1.0, max_samples=1_000, mono_rate=16_000)
    read_tags(tagged)


def confine(cpu_seconds: int) -> None:
    """Drop the rights that decoding does not need. The open standard streams stay usable."""
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: cpu_seconds,
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
    max_seconds, with_tags, mono_rate, max_samples, size = REQUEST.unpack(source.read(REQUEST.size))
    data = source.read(size)
    try:
        pcm, rate = decode(data, max_seconds=max_seconds, max_samples=max_samples, mono_rate=mono_rate)
    except AudioDecodeError as error:
        message = error.message.encode()
        sink.write(REPLY.pack(REFUSAL, 0, 0, len(message)) + message)
    else:
        samples = np.ascontiguousarray(pcm, dtype="<f4")
        sink.write(REPLY.pack(SAMPLES, rate, 1 if pcm.ndim == 1 else pcm.shape[1], samples.nbytes))
        sink.write(samples.data)
    if with_tags:
        tags = json.dumps(read_tags(data)).encode()
        sink.write(TAGS.pack(len(tags)) + tags)
    sink.flush()


def decode_one(cpu_seconds: int) -> None:
    """Confine this process and decode its recording."""
    confine(cpu_seconds)
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    warm_up()
    fork_server.serve(decode_one)
