"""Voice references in requests: a registered name, a URL, an inline recording, or an uploaded file."""

import base64
import re
from dataclasses import dataclass

from polyvox.errors import InvalidRequestError
from polyvox.voices.limits import too_large

_AUDIO_MEDIA = re.compile(r"(audio/[a-z0-9.+-]+|application/(ogg|octet-stream)|video/(mp4|ogg|webm))", re.ASCII)
_LONGEST_MEDIA_TYPE = 200
_WRITTEN = re.compile(r"[A-Za-z0-9+/=_%\s-]*", re.ASCII)
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)
_SPELLINGS = (("%2B", "+"), ("%2F", "/"), ("%3D", "="), ("%20", ""), ("%0D", ""), ("%0A", ""), ("-", "+"), ("_", "/"))
"""Spellings of a character of base64: codes of a URL's, in either case, and the alphabet that is safe in one."""


@dataclass(frozen=True, slots=True)
class RegisteredVoice:
    """A voice of the store, or of the engine, by its name or id; the name is as the caller wrote it."""

    name: str


@dataclass(frozen=True, slots=True)
class UrlVoice:
    """A recording to be fetched; the URL is unchecked."""

    url: str


@dataclass(frozen=True, slots=True)
class InlineVoice:
    """A recording that the request carries in its text."""

    data: bytes


@dataclass(frozen=True, slots=True)
class UploadedVoice:
    """A recording that a multipart request carries; `name` is a label to look the part up by, never a path."""

    name: str


VoiceReference = RegisteredVoice | UrlVoice | InlineVoice | UploadedVoice


def parse_reference(voice: str, *, max_bytes: int, field: str = "voice") -> VoiceReference:
    """Parse `url+https://...`, `base64+...` or `data:...`, `file+name`, or else a name.

    Nothing is looked up here. An inline recording over `max_bytes` is refused before it is decoded.
    """
    prefix, plus, rest = voice.partition("+")
    way = prefix.lower() if plus else ""
    if way in ("url", "file", "base64") and not rest.strip():
        raise InvalidRequestError(f"{field} ends after {prefix}+; write behind it what is meant.", field=field)
    if way == "url":
        return UrlVoice(rest.strip())
    if way == "file":
        return UploadedVoice(rest)
    if way == "base64":
        return InlineVoice(_from_base64(rest, max_bytes, field))
    if voice[:5].lower() == "data:":
        return InlineVoice(_from_data_url(voice[5:], max_bytes, field))
    if not voice.strip():
        raise InvalidRequestError(f"{field} is empty; name a voice.", field=field)
    return RegisteredVoice(voice)


def _from_data_url(rest: str, max_bytes: int, field: str) -> bytes:
    comma = rest.find(",", 0, _LONGEST_MEDIA_TYPE)
    if comma < 0:
        raise InvalidRequestError(f"{field} is no whole data URL; write data:audio/wav;base64,... .", field=field)
    media, *parameters = (part.strip().lower() for part in rest[:comma].split(";"))
    if not _AUDIO_MEDIA.fullmatch(media):
        raise InvalidRequestError(f"{field} is a data URL of another kind; send audio, such as audio/wav.", field=field)
    if "base64" not in parameters:
        raise InvalidRequestError(f"{field} is a data URL without base64; encode the recording so.", field=field)
    return _from_base64(rest[comma + 1 :], max_bytes, field)


def _from_base64(text: str, max_bytes: int, field: str) -> bytes:
    """Both alphabets are read, with or without padding, broken into lines or not; anything else is refused."""
    if len(text) > 2 * max_bytes + 64:
        raise too_large(max_bytes, field)
    # The alphabet before anything is decoded: a text that is none costs no more than a few looks at it.
    joined = "".join(text.split()) if _WRITTEN.fullmatch(text) else "%"
    for spelling, character in _SPELLINGS:
        joined = joined.replace(spelling, character).replace(spelling.lower(), character)
    if not _BASE64.fullmatch(joined):
        raise InvalidRequestError(f"{field} is not valid base64; encode the recording again.", field=field)
    bare = joined.rstrip("=")
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except ValueError as error:
        raise InvalidRequestError(f"{field} is not valid base64; encode the recording again.", field=field) from error
    if len(data) > max_bytes:
        raise too_large(max_bytes, field)
    return data
