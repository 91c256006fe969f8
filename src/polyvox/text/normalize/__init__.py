"""Text normalisation: from written to spoken words, by language."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Final, cast

from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

Normalizer = Callable[[TrackedText, NormalizationOptions], TrackedText]

_OTHER: Final = "other"
_MODULES: Final[Mapping[str, str]] = {
    "cmn": "zh",
    **{language: language for language in ("en", "es", "fr", "hi", "it", "ja", "ms", "pt", "zh")},
    **{f"en-{region}": "en_gb" for region in ("gb", "uk", "ie", "au", "nz", "za", "in")},
}
"""The module of each language here, imported when its language is first asked for."""


def normalizer_for(language: str) -> Normalizer:
    """The normaliser of a language tag; languages without their own share one that leaves numbers alone."""
    tag = language.lower().replace("_", "-")
    return _normalizer(_MODULES.get(tag) or _MODULES.get(tag.partition("-")[0], _OTHER))


def load_normalizers() -> None:
    """Import every language, as a server does before it answers: its first request in one would wait for it."""
    for module in {*_MODULES.values(), _OTHER}:
        _normalizer(module)


@cache
def _normalizer(module: str) -> Normalizer:
    return cast(Normalizer, import_module(f"{__name__}.{module}").normalize)
