"""The cache of speech in headers: whether an answer came from it, how old it is, and its validator."""

import hashlib
from http import HTTPStatus

from starlette.datastructures import Headers

from polyvox.api.body_format import BodyFormat
from polyvox.service.session import Session

CACHE_HEADER = "X-Speech-Cache"
"""`hit` or `miss`; absent where the answer cannot be cached, or where there is no cache."""
AGE_HEADER = "Age"
ETAG_HEADER = "ETag"


def has_tag(header: str, etag: str) -> bool:
    """True if a list of entity tags holds this one, or stands for any."""
    return header.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in header.split(","))


def cache_headers(session: Session, body_format: BodyFormat) -> dict[str, str]:
    """The headers of an answer that is in the cache, or will be."""
    use = session.cache
    if use is None:
        return {}
    headers = {CACHE_HEADER: "hit" if use.hit else "miss"}
    if use.age is not None:
        headers[AGE_HEADER] = str(int(use.age))
    if (tag := _tag(session, body_format)) is not None:
        headers[ETAG_HEADER] = f"W/{tag}" if session.is_signed else tag  # each signed answer has its own content id
    return headers


def is_unchanged(given: Headers, session: Session, body_format: BodyFormat) -> bool:
    """True if the caller has the very answer that is in the cache."""
    tag = _tag(session, body_format)
    known = session.cache is not None and session.cache.hit and tag is not None
    return known and tag is not None and has_tag(given.get("if-none-match", ""), tag)


def unchanged_status(method: str) -> HTTPStatus:
    """The status of such an answer: RFC 9110 has 304 for GET and HEAD, and 412 for all else."""
    return HTTPStatus.NOT_MODIFIED if method in ("GET", "HEAD") else HTTPStatus.PRECONDITION_FAILED


def _tag(session: Session, body_format: BodyFormat) -> str | None:
    """The entity tag of plain audio; other bodies hold what differs each time."""
    if session.cache is None or not body_format.media_type.startswith("audio/"):
        return None
    made = "" if session.marks is None or session.is_signed else session.marks.made
    form = f"{session.cache.key.digest} {body_format.media_type} {body_format.buffered} {made}"
    return f'"{hashlib.sha256(form.encode()).hexdigest()[:32]}"'
