"""A key: its name, what it may do, and how much of it."""

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum

from polyvox.errors import InvalidRequestError
from polyvox.service.telemetry.key_names import ANONYMOUS, OTHERS

KEY_PREFIX = "pvx_"

_KEY_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SETTING_PREFIX = "api-key-"
_MOST = 2**53


class Scope(StrEnum):
    """A use that a key is good for."""

    SPEAK = "speak"
    LISTEN = "listen"
    VOICES = "voices"
    ADMIN = "admin"


ALL_SCOPES = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a key or an address; 0 is no limit."""

    requests_a_minute: int = 0
    streams: int = 0
    characters_a_day: int = 0
    audio_seconds_a_day: int = 0

    def __post_init__(self) -> None:
        for each in fields(self):
            if not 0 <= getattr(self, each.name) <= _MOST:
                raise InvalidRequestError(f"'{each.name}' must be a whole number, 0 for no limit.", field=each.name)

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self))


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key without its secret. `owner` is the id of what is registered with it; times are in seconds since 1970."""

    name: str
    owner: str
    scopes: frozenset[Scope] = ALL_SCOPES
    limits: Limits = Limits()
    created: float = 0.0
    revoked: float | None = None


def new_key() -> str:
    """A random key of 256 bits."""
    return KEY_PREFIX + secrets.token_urlsafe(_KEY_BYTES)


def owner_of(key: str) -> str:
    """The owner id of a key's voices. It is the same as long as the key is, and does not reveal the key."""
    return hashlib.blake2b(key.encode(), digest_size=16, person=b"polyvox-owner").hexdigest()


def digest_of(key: bytes) -> bytes:
    """The digest that is stored in place of a key.

    A plain hash will do: 256 random bits cannot be guessed, whatever a guess costs.
    """
    return hashlib.sha256(key).digest()


def setting_key_name(place: int) -> str:
    """The name of a key of the setting `api_keys`, by its place there."""
    return f"{_SETTING_PREFIX}{place}"


def check_name(name: str) -> str:
    """The name of a new key; InvalidRequestError where it cannot be one."""
    if not _NAME.fullmatch(name):
        raise InvalidRequestError(
            "A key's name is 1 to 64 letters, digits, dots, hyphens or underscores, the first a letter or digit.",
            field="name",
        )
    if name in (ANONYMOUS, OTHERS) or name.startswith(_SETTING_PREFIX):
        raise InvalidRequestError(f"The name {name!r} is the server's own; choose another.", field="name")
    return name


def scopes_of(names: Iterable[str]) -> frozenset[Scope]:
    """Scopes by their names; InvalidRequestError where one is unknown or none is given."""
    found = set()
    for name in names:
        if name not in tuple(Scope):
            raise InvalidRequestError(f"{name!r} is no scope; use {', '.join(Scope)}.", field="scope")
        found.add(Scope(name))
    if not found:
        raise InvalidRequestError(f"A key needs a scope: {', '.join(Scope)}.", field="scope")
    return frozenset(found)
