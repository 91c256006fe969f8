"""A server as the documents start it: the real Kokoro model, HTTP and gRPC, on free ports."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polyvox.bench.process import ServerProcess, server_process


@contextmanager
def documented_server(models_dir: Path, data_dir: Path) -> Iterator[ServerProcess]:
    command = ["serve", "--port", "0", "--grpc-port", "0", "--models-dir", str(models_dir)]
    with server_process(command, {"POLYVOX_DATA_DIR": str(data_dir)}) as server:
        yield server
