"""Validation of voice names, tags, transcripts and notes: no hidden or misleading characters."""

import re
import secrets
import unicodedata

from polyvox.errors import InvalidRequestError

MAX_NAME_CHARS = 64
MAX_TAG_CHARS = 32
MAX_TAGS = 16
MAX_TRANSCRIPT_CHARS = 2_000
MAX_NOTE_CHARS = 1_000

# Longest raw input that is worth normalising: a character may take several code points, but not dozens.
_MAX_CODE_POINTS_PER_CHAR = 8
_RESERVED_STARTS = ("url+", "base64+", "file+", "data:")
# Letters, marks and symbols that show nothing, although their category says otherwise: fillers, blanks, selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_JOINERS = "\u200c\u200d"
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,4}")
_ID = re.compile(r"voice_[0-9a-f]{32}")


def new_voice_id() -> str:
    """An id that says nothing and cannot be guessed."""
    return f"voice_{secrets.token_hex(16)}"


def is_voice_id(text: str) -> bool:
    """Return whether a reference can only be an id: no name looks like one."""
    return _ID.fullmatch(text) is not None


def voice_name(raw: str, field: str = "name") -> str:
    """The name in the form that is stored: NFC, trimmed, every character visible, and never a path."""
    name = _visible_line(raw, MAX_NAME_CHARS, field)
    if "/" in name or "\\" in name:
        raise InvalidRequestError(f"'{field}' must not hold a slash or a backslash.", field=field)
    if not any(char.isalnum() for char in name):
        raise InvalidRequestError(f"'{field}' must hold a letter or a digit.", field=field)
    if is_voice_id(name.lower()):
        raise InvalidRequestError(f"'{field}' must not look like the id of a voice.", field=field)
    if name.lower().startswith(_RESERVED_STARTS):
        starts = ", ".join(_RESERVED_STARTS)
        raise InvalidRequestError(
            f"'{field}' must not start with one of {starts}: those mean a recording.", field=field
        )
    return name


def name_key(name: str) -> str:
    """The key by which names of one owner are unique: NFKC and case folding."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def numbered_name(name: str, number: int) -> str:
    """The name itself for 1, else `name (2)`, `name (3)` ..., not longer than a name may be."""
    ending = f" ({number})" if number > 1 else ""
    return name[: MAX_NAME_CHARS - len(ending)] + ending


def voice_tags(raw: list[str], field: str = "tags") -> tuple[str, ...]:
    """The tags in lower case, each once, in the order given."""
    if len(raw) > MAX_TAGS:
        raise InvalidRequestError(f"'{field}' holds {len(raw)} tags; a voice takes at most {MAX_TAGS}.", field=field)
    return tuple(dict.fromkeys(_visible_line(tag, MAX_TAG_CHARS, field).lower() for tag in raw))


def voice_language(raw: str, field: str = "language") -> str:
    """A BCP 47 tag in lower case, or nothing where the language is not known."""
    tag = raw.strip().lower().replace("_", "-")
    if tag and not _LANGUAGE.fullmatch(tag):
        raise InvalidRequestError(f"'{field}' must be a language tag such as en, en-gb or zh.", field=field)
    return tag


def transcript_text(raw: str, field: str = "transcript") -> str:
    """A transcript, as one line."""
    return _one_line(raw, MAX_TRANSCRIPT_CHARS, field)


def note_text(raw: str, field: str = "consent_note") -> str:
    """A remark, as one line."""
    return _one_line(raw, MAX_NOTE_CHARS, field)


def _visible_line(raw: str, limit: int, field: str) -> str:
    """One to `limit` characters, none of which is hidden or steers the text around it."""
    if len(raw) > limit * _MAX_CODE_POINTS_PER_CHAR:
        raise _too_long(limit, field)
    text = unicodedata.normalize("NFC", raw).strip(" ")
    if not text:
        raise InvalidRequestError(f"'{field}' must not be empty.", field=field)
    if len(text) > limit:
        raise _too_long(limit, field)
    for char in text:
        if _is_hidden(char):
            raise InvalidRequestError(f"'{field}' must not hold the character U+{ord(char):04X}.", field=field)
    if unicodedata.category(text[0]).startswith("M"):
        raise InvalidRequestError(f"'{field}' must not start with a combining mark.", field=field)
    return text


def _is_hidden(char: str) -> bool:
    """Controls, formats (bidi and zero-width among them), surrogates, private use, unassigned, odd spaces, blanks."""
    category = unicodedata.category(char)
    return category[0] == "C" or (category[0] == "Z" and char != " ") or _INVISIBLE.match(char) is not None


def _one_line(raw: str, limit: int, field: str) -> str:
    """White space collapsed, no hidden characters but the joiners that some scripts are spelt with."""
    if len(raw) > limit * _MAX_CODE_POINTS_PER_CHAR:
        raise _too_long(limit, field)
    text = " ".join(unicodedata.normalize("NFC", raw).split())
    if len(text) > limit:
        raise _too_long(limit, field)
    for char in text:
        if unicodedata.category(char).startswith("C") and char not in _JOINERS:
            raise InvalidRequestError(f"'{field}' must not hold the character U+{ord(char):04X}.", field=field)
    return text


def _too_long(limit: int, field: str) -> InvalidRequestError:
    return InvalidRequestError(f"'{field}' must have at most {limit} characters.", field=field)
