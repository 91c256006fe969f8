"""`polyvox mcp`: the command, its backends, the user's machine, and the protocol over pipes."""
