"""A server whose only model is a seeded engine: `python -m benchmarks.seeded_server ARGUMENTS`, in JSON.

`seeded` has the fields of `Seeded`, `tiny` asks for sizes that a CPU bears, and `settings` are the server's.
"""

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from polyvox.config import Settings
from polyvox.deploy.workers.parts import ServerParts
from polyvox.deploy.workers.supervisor import serve_with_workers
from polyvox.installation import load_settings
from polyvox.server.process import run_server

if TYPE_CHECKING:
    from benchmarks.seeded_engines import SeededEngine

PROGRAM = "benchmarks.seeded_server"


def main() -> None:
    given = json.loads(sys.argv[1])
    model = given["model"]
    settings = load_settings(**given["settings"], models=[model], default_model=model, port=0)
    factories = {model: partial(_engine, given)}
    if settings.workers == 1:
        run_server(settings, factories)
    else:
        serve_with_workers(settings, ServerParts(factories))


def _engine(given: dict[str, Any], settings: Settings) -> "SeededEngine":
    # With several processes, only the one that speaks may import PyTorch: CUDA does not survive a fork.
    from benchmarks.seeded_engines import Seeded, Sizes, seeded_engine

    seeded = Seeded(**given["seeded"], sizes=Sizes.tiny() if given["tiny"] else Sizes())
    return seeded_engine(seeded, settings)


if __name__ == "__main__":
    main()
