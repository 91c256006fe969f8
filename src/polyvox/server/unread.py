"""The end of connections whose client does not read, by the kernel."""

import socket


def end_unread(own: socket.socket, seconds: float) -> None:
    """Have the kernel end a connection whose client takes nothing of what was sent for so long.

    Its buffers hold a minute of speech, so that the application alone would notice much later. Set on a listening
    socket, it holds for all connections that are accepted there.
    """
    if own.family in (socket.AF_INET, socket.AF_INET6) and hasattr(socket, "TCP_USER_TIMEOUT"):
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, round(1_000 * seconds)))
