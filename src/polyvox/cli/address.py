"""A server's address as a user types it."""

from urllib.parse import urlsplit

from polyvox.errors import InvalidRequestError


def server_address(url: str, field: str) -> str:
    """The address without a trailing slash or `/v1`, which OpenAI's clients want and others leave out."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequestError(f"{url!r} is not a server's address; write it as http://HOST:PORT.", field=field)
    return url.rstrip("/").removesuffix("/v1")
