"""Headers that tell a caller how it stands to its limits."""

import math

from polyvox.errors import RateLimitError
from polyvox.service.keys.counters import Level

LIMIT_HEADER = "X-RateLimit-Limit"
REMAINING_HEADER = "X-RateLimit-Remaining"
RESET_HEADER = "X-RateLimit-Reset"
RESOURCE_HEADER = "X-RateLimit-Resource"

RATE_HEADERS = (LIMIT_HEADER, REMAINING_HEADER, RESET_HEADER, RESOURCE_HEADER)


def rate_headers(level: Level | RateLimitError | None) -> dict[str, str]:
    """The limit, what is left of it, the seconds until all of it is back, and what it limits; none without a limit."""
    if level is None:
        return {}
    return {
        LIMIT_HEADER: str(level.limit),
        REMAINING_HEADER: str(level.remaining),
        RESET_HEADER: str(max(0, math.ceil(level.reset))),
        RESOURCE_HEADER: str(level.resource),
    }
