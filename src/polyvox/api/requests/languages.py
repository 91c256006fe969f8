"""Language codes of callers, mapped to the tags of the engines."""

import re
from types import MappingProxyType

from polyvox.errors import InvalidRequestError

_KOKORO_LETTERS = MappingProxyType(
    {
        "a": "en-us",
        "b": "en-gb",
        "e": "es",
        "f": "fr",
        "h": "hi",
        "i": "it",
        "j": "ja",
        "p": "pt-br",
        "z": "zh",
    }
)
_REGIONAL = frozenset({"en-us", "en-gb", "pt-br"})
_DEFAULT_REGION = MappingProxyType({"en": "en-us", "pt": "pt-br", "cmn": "zh"})
_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,4}")


def language_tag(code: str, field: str) -> str:
    """Turn one of Kokoro's letters or a BCP 47 tag into an engine's tag.

    A region that no engine distinguishes is dropped (`fr-CA` is `fr`, `en-AU` is `en-us`). An unknown language passes:
    the engine decides whether it can be spoken.
    """
    lowered = code.strip().lower().replace("_", "-")
    if lowered in _KOKORO_LETTERS:
        return _KOKORO_LETTERS[lowered]
    if not _TAG.fullmatch(lowered):
        letters = " ".join(_KOKORO_LETTERS)
        raise InvalidRequestError(f"'{field}' must be one of {letters}, or a tag such as en-us or zh.", field=field)
    if lowered in _REGIONAL:
        return lowered
    language = lowered.partition("-")[0]
    return _DEFAULT_REGION.get(language, language)


def language_of_pack(name: str) -> str | None:
    """The language that the name of a Kokoro voice begins with, as in `bf_emma`; None for other names."""
    letter, gender = name[:1], name[1:3]
    return _KOKORO_LETTERS.get(letter) if gender in ("f_", "m_") else None
