"""Further names of voices, and the languages that some of them stand for."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from polyvox.config import CONVENTIONAL_VOICES

_LANGUAGES = MappingProxyType({"中文": "zh", "英文": "en", "日语": "ja", "粤语": "yue", "韩语": "ko"})
"""By the first two characters of the names of CosyVoice's speakers."""


def unspoken_language(name: str, voice: str, languages: Iterable[str]) -> str:
    """The language that a name stands for where it is none of these; empty where it is, or where it stands for none.

    A name that the settings give to another voice stands for that voice alone.
    """
    language = _LANGUAGES.get(name[:2], "") if f"{name}={voice}" in CONVENTIONAL_VOICES else ""
    return "" if language in {tag.partition("-")[0] for tag in languages} else language


def accepted_aliases(aliases: Mapping[str, str], languages: frozenset[str], voices: Iterable[str]) -> list[str]:
    """The names that a model with these languages and voices takes."""
    known = set(voices)
    return [name for name, voice in aliases.items() if voice in known and not unspoken_language(name, voice, languages)]
