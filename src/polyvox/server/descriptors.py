"""File descriptors of this process: as many as the system allows, some of them kept back."""

import sys

import structlog

from polyvox.config import Settings

MOST = 65_536
"""Asked for at most: where there is no limit, some programs walk through all possible descriptors when they start."""
RESERVE = 128
"""Not for connections: files of models and voices, pipes of child processes."""

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def raise_descriptor_limit() -> int:
    """Raise the soft limit as far as allowed; return the limit."""
    if sys.platform == "win32":
        return MOST
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(MOST, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return MOST if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError) as error:  # macOS has a lower limit of its own
        log.warning("cannot raise the limit on file descriptors", limit=soft, wanted=wanted, error=str(error))
        return soft
    return wanted


def connection_capacity(settings: Settings, limit: int) -> int:
    """Connections for a server that cannot tell by itself when descriptors run low.

    Where there are too few for all, HTTP, gRPC and Wyoming get equal shares, so that none can take the others'.
    """
    servers = 1 + sum(port is not None for port in (settings.grpc_port, settings.wyoming_port))
    capacity = max(1, min(settings.max_connections, (limit - RESERVE) // servers))
    if capacity < settings.max_connections:
        log.warning(
            "the limit on file descriptors is too low for max_connections",
            descriptors=limit,
            max_connections=settings.max_connections,
            remedy="raise it with `ulimit -n`, LimitNOFILE= of systemd or --ulimit of Docker",
        )
    return capacity
