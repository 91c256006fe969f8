"""The origin of an answer in headers: its marks, and where its signed manifest is."""

from polyvox.service.session import Session

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
