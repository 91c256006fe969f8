"""Languages of CosyVoice, by the version of the model."""

from types import MappingProxyType

LANGUAGES = MappingProxyType(
    {
        1: frozenset(("zh", "en", "ja", "ko", "yue")),
        2: frozenset(("zh", "en", "ja", "ko")),
        3: frozenset(("zh", "en", "ja", "ko", "de", "es", "fr", "it", "ru")),
    }
)
