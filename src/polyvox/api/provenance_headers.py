"""The origin of speech in headers: its marks, and where its signed manifest is."""

from starlette.websockets import WebSocket

from polyvox.provenance.marks import ORIGIN
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
