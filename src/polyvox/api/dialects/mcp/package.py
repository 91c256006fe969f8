"""The package that speaks the protocol, which the extra `mcp` installs."""

from importlib.util import find_spec

from polyvox.errors import UnavailableError, install_hint


def check_installed() -> None:
    """Refuse to go on where the package that speaks the protocol is missing."""
    if find_spec("mcp") is None:
        raise UnavailableError(f"MCP is not installed; install it with: {install_hint('mcp')}")
