"""Write the table of operations and scopes into docs/security.md, from the code.

Run it after adding an operation, a route, a gRPC method, an MCP tool or a Wyoming event.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from polyvox.api.app import route_operations
from polyvox.api.dialects.grpc.handlers import METHODS
from polyvox.api.dialects.mcp.tools import TOOLS
from polyvox.api.dialects.wyoming.connection import EVENTS
from polyvox.api.doors import DOORS
from polyvox.service.keys.operations import Operation

PAGE = Path(__file__).parents[1] / "docs" / "security.md"
BEGIN, END = "<!-- operations: written by scripts/build_scopes_table.py -->\n", "<!-- end of operations -->\n"
_SECOND_PREFIXES = ("/elevenlabs", "/cartesia")


def page() -> str:
    """The page as it should be."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


def table() -> str:
    """A row for each operation."""
    rows = ["| scope | operation | asked for by |", "|---|---|---|"]
    rows += [f"| {_scope(each)} | {each.meaning} | {', '.join(_asked_by(each))} |" for each in Operation]
    return "".join(f"{row}\n" for row in rows)


def _scope(operation: Operation) -> str:
    if operation.scope is not None:
        return f"`{operation.scope}`"
    return "no key" if operation is Operation.PROBE else "any key"


def _asked_by(operation: Operation) -> Iterator[str]:
    """The routes, methods, tools and events of an operation."""
    yield from (f"`{route}`" for route in _routes(operation))
    for service, methods in METHODS.items():
        yield from (f"gRPC `{service}/{method}`" for method, each in methods.items() if each is operation)
    yield from (f"MCP `{tool}`" for tool, each in TOOLS.items() if each is operation)
    yield from (f"Wyoming `{event}`" for event, each in EVENTS.items() if each is operation)
    if operation is Operation.READ_ALL_USAGE:
        yield "`GET /v1/usage`, which shows other keys only then"


def _routes(operation: Operation) -> Iterator[str]:
    """Routes by method and path, without those that a door has once more below a prefix."""
    routes = route_operations(DOORS)
    for route, each in routes.items():
        method, _, path = route.partition(" ")
        plain = [f"{method} {path.removeprefix(prefix)}" for prefix in _SECOND_PREFIXES if path.startswith(prefix)]
        if each is operation and not any(routes.get(other) is operation for other in plain):
            yield route


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"Wrote {PAGE}.\n")
