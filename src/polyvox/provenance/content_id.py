"""Content ids: names of answers, 32 hexadecimal digits."""

import hashlib
import re

_FORM = re.compile(r"[0-9a-f]{32}", re.ASCII)


def is_content_id(text: str) -> bool:
    """True if the text has the form of an id, and so may become part of a path."""
    return _FORM.fullmatch(text) is not None


def derived_id(*parts: str) -> str:
    """The id of what is the same whenever it is made of the same parts."""
    digest = hashlib.sha256(b"polyvox content")
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]
