"""The package that speaks the protocol, which the extra `mcp` installs."""

from polyvox.extras import MCP


def check_installed() -> None:
    """Refuse to go on where the package that speaks the protocol is missing."""
    MCP.check()
