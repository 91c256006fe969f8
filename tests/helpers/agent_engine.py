"""An engine for agents, and `polyvox mcp` with it: run this module with the command's options.

The text `slow ...` is spoken for as long as somebody listens, a chunk every 20 ms. Every utterance that ends adds a
line to a file, which the variable ENDED names.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from helpers.cloning import CloneEngine
from helpers.fakes import tone_catalog
from polyvox.types import AudioChunk, Utterance

ENDED = "AGENT_ENGINE_ENDED"


class AgentEngine(CloneEngine):
    """Tones, and one of them without end."""

    def __init__(self, ended: Path | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._ended = ended
        if ended is not None:
            ended.touch()

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        slow = utterance.text.startswith("slow")
        print("Some engines are talkative.")  # which must not reach a host that reads standard output
        try:
            async with aclosing(super().speak(utterance)) as chunks:
                async for chunk in chunks:
                    yield chunk
                    while slow:
                        await asyncio.sleep(0.02)
                        yield chunk
        finally:
            if self._ended is not None:
                with self._ended.open("a") as file:
                    file.write("slow\n" if slow else "quick\n")


if __name__ == "__main__":
    from polyvox.cli.main import app
    from polyvox.engines.catalog import Catalog

    engine = AgentEngine(Path(os.environ[ENDED]))
    Catalog.installed = lambda: tone_catalog(engine)
    app(["mcp", *sys.argv[1:]])
