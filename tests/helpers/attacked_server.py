"""A real server in a process of its own for the trials; its engine costs nothing.

`python -m helpers.attacked_server SETTINGS` takes a JSON object of settings by their flat names. Trials give it hostile
clients and watch the process from outside, since its own measurements would stop with it.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from helpers.processes import ProgramProcess, program_process
from polyvox.bench.null import NullEngine
from polyvox.cli.server import run_server
from polyvox.installation import load_settings
from polyvox.types import Voice

TESTS = Path(__file__).parents[1]


class AttackedEngine(NullEngine):
    """Half a minute of noise for every text, in Kokoro's default voice."""

    name = "kokoro"
    voices: Sequence[Voice] = (Voice("af_heart", "Heart", "en-us"),)


@contextmanager
def attacked_server(
    folder: Path, *, program: str = "helpers.attacked_server", **settings: Any
) -> Iterator[ProgramProcess]:
    """Serve on a free port of loopback, with nothing configured but what is given; its data lies under `folder`.

    `program` is a module that serves with another engine.
    """
    given = {
        "host": "127.0.0.1",
        "port": 0,
        "data_dir": str(folder / "data"),
        "models_dir": str(folder / "models"),
        "log_format": "json",
    } | settings
    environment = {"PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))}
    command = [sys.executable, "-m", program, json.dumps(given)]
    with program_process(command, environment, folder / "server.log") as process:
        yield process


if __name__ == "__main__":
    run_server(load_settings(**json.loads(sys.argv[1])), {"kokoro": AttackedEngine})
