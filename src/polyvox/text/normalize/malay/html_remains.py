"""HTML that `text.markup` does not strip: page elements, comments, scripts, entities."""

import html
import re
from typing import Final

from polyvox.text.characters import INVISIBLE
from polyvox.text.placeholders import PLACEHOLDERS
from polyvox.text.tracked import TrackedText

_ANY: Final = re.compile(r"[<&]")
_COMMENT: Final = re.compile(rf"<!--[^<>{PLACEHOLDERS}]*+>|<!doctype[^<>\n{PLACEHOLDERS}]*+>", re.IGNORECASE)
_UNSPOKEN: Final = re.compile(
    rf"<(?P<name>script|style)(?: [^<>\n{PLACEHOLDERS}]*+)?>[^<{PLACEHOLDERS}]*+</(?P=name)>", re.IGNORECASE
)
_TAG: Final = re.compile(
    r"</?(?:abbr|article|aside|audio|bdi|bdo|big|body|button|caption|center|dd|dl|dt|figcaption|figure|font|footer|"
    r"form|head|header|html|iframe|input|label|link|main|meta|nav|option|script|section|select|source|strike|style|"
    rf"tbody|textarea|tfoot|thead|time|title|tt|var|video|wbr)(?: [^<>\n{PLACEHOLDERS}]*+)?/?>",
    re.IGNORECASE,
)
_ENTITY: Final = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_FORBIDDEN: Final = re.compile(f"[{INVISIBLE}{PLACEHOLDERS}]")


def strip(text: TrackedText) -> TrackedText:
    """The text without tags and with its entities resolved."""
    if _ANY.search(text.text) is None:
        return text
    for pattern in (_COMMENT, _UNSPOKEN, _TAG):
        text = text.sub(pattern, "")
    return text.sub(_ENTITY, _character)


def _character(match: re.Match[str]) -> str:
    """The character of an entity, unless it is a placeholder or a control character."""
    return _FORBIDDEN.sub("", html.unescape(match.group()))
