"""`polyvox speechd` with an engine of tones: run this module with the command's options."""

import sys

from helpers.agent_engine import AgentEngine
from helpers.fakes import tone_catalog

if __name__ == "__main__":
    from polyvox.cli.main import app
    from polyvox.engines.catalog import Catalog

    engine = AgentEngine()
    Catalog.installed = lambda: tone_catalog(engine)
    app(["speechd", *sys.argv[1:]])
