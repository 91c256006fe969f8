"""A server as the documents start it: the real Kokoro model, HTTP and gRPC, on free ports."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from helpers.processes import ProgramProcess, polyvox_process

SMALL_DECODER = {"POLYVOX_KOKORO_DECODER": "wren"}
"""For what Kokoro need not say in full: the same voices for a tenth of the work."""


@contextmanager
def documented_server(
    models_dir: Path, data_dir: Path, variables: Mapping[str, str] = MappingProxyType({})
) -> Iterator[ProgramProcess]:
    command = ["serve", "--port", "0", "--grpc-port", "0", "--models-dir", str(models_dir)]
    with polyvox_process(command, {"POLYVOX_DATA_DIR": str(data_dir), **variables}) as server:
        yield server
