"""A program that asks a server for `/health` again and again until its input ends, then prints the seconds as JSON.

It imports nothing but the standard library: it runs as `python -S health_probe.py HOST PORT`.
"""

import json
import select
import socket
import sys
import time

EVERY = 0.02
TIMEOUT = 60.0


def health_seconds(host: str, port: int) -> float:
    """Time of one `/health` on a connection of its own; the whole timeout where there was no answer."""
    began = time.monotonic()
    answer = b""
    try:
        with socket.create_connection((host, port), timeout=TIMEOUT) as connection:
            connection.sendall(f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            while piece := connection.recv(4096):
                answer += piece
    except OSError:
        return TIMEOUT
    return time.monotonic() - began if answer.startswith(b"HTTP/1.1 200 ") else TIMEOUT


def main(host: str, port: int) -> None:
    print("probing", flush=True)
    seconds = []
    while True:
        seconds.append(health_seconds(host, port))
        if select.select([sys.stdin], [], [], EVERY)[0]:
            break
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
