"""Headers of answers: the origin of the speech, and how the caller stands to its limits."""

import math

from starlette.websockets import WebSocket

from polyvox.errors import RateLimitError
from polyvox.provenance.marks import ORIGIN
from polyvox.service.keys.counters import Level
from polyvox.service.session import Session
from polyvox.service.speech import SpeechService

PROVENANCE_HEADER = "X-Polyvox-Provenance"
LINK_HEADER = "Link"


def provenance_headers(session: Session) -> dict[str, str]:
    """The headers of an answer; none where the server marks nothing."""
    marks = session.marks
    if marks is None:
        return {}
    headers = {PROVENANCE_HEADER: marks.header}
    if session.is_signed:
        headers[LINK_HEADER] = f'</v1/audio/provenance/{marks.content_id}>; rel="describedby"; type="application/json"'
    return headers


def socket_headers(socket: WebSocket) -> list[tuple[bytes, bytes]]:
    """The headers of a WebSocket, all of whose speech is synthetic; none where the server marks nothing."""
    service: SpeechService = socket.app.state.service
    return [(PROVENANCE_HEADER.lower().encode(), ORIGIN.encode())] if service.notary.marks_answers else []


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
