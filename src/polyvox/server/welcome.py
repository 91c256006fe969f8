"""The words that a server begins with on standard output."""

import json
import shlex
from collections.abc import Mapping

from polyvox.config import Settings
from polyvox.service.keys.accounts import asks_for_keys

_EXAMPLE = shlex.quote(json.dumps({"input": "Hello from Polyvox."}))


def welcome(url: str, others: Mapping[str, str], settings: Settings, *, on_terminal: bool) -> str:
    """One line that programs read; on a terminal a block for people, with a command to try.

    `others` has the addresses of the servers beside HTTP, by the names of their protocols.
    """
    if not on_terminal:
        beside = "".join(f", over {name} at {address}" for name, address in others.items())
        together = f" with {settings.workers} workers" if settings.workers > 1 else ""
        return f"Polyvox speaks at {url}{beside}{together} (Ctrl-C stops it)."
    url = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
    studio = {"Studio": f"{url}/ (open it in a browser)"} if settings.studio else {}
    workers = {"Workers": f"{settings.workers}, and a process with the models"} if settings.workers > 1 else {}
    rows = {**studio, "API": f"{url}/docs", **others, **workers, "Stop": "Ctrl-C"}
    width = max(map(len, rows))
    table = "\n".join(f"  {name:<{width}}  {value}" for name, value in rows.items())
    key = ' -H "Authorization: Bearer $POLYVOX_KEY"' if asks_for_keys(settings) else ""
    curl = f"curl {url}/v1/audio/speech{key} -H 'Content-Type: application/json' -d {_EXAMPLE} -o hello.mp3"
    return f"\nPolyvox speaks at {url}\n\n{table}\n\n  {curl}\n"
