"""The server process: its listeners (uvicorn, granian, TLS, sockets), and limits on their connections."""
