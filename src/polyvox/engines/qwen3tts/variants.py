"""The released models of the family, by the names that callers use."""

from dataclasses import dataclass
from types import MappingProxyType

from polyvox.types import Voice

BASE, CUSTOM_VOICE, VOICE_DESIGN = "base", "custom_voice", "voice_design"
TAGS = MappingProxyType(
    {
        "de": "german",
        "en": "english",
        "es": "spanish",
        "fr": "french",
        "it": "italian",
        "ja": "japanese",
        "ko": "korean",
        "pt": "portuguese",
        "ru": "russian",
        "zh": "chinese",
    }
)
"""The model's names of languages, by their BCP 47 tags."""
LANGUAGES = frozenset(TAGS)
DESIGNED = "designed"
"""The one voice of a model that is told what its voice is like."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One released model: its kind and size as its `config.json` says, and whether it follows instructions."""

    name: str
    kind: str
    size: str
    instructions: bool = False

    @property
    def cloning(self) -> bool:
        return self.kind == BASE


VARIANTS = MappingProxyType(
    {
        variant.name: variant
        for variant in (
            Variant("qwen3tts-0.6b", BASE, "0b6"),
            Variant("qwen3tts-1.7b", BASE, "1b7"),
            Variant("qwen3tts-0.6b-custom-voice", CUSTOM_VOICE, "0b6"),
            Variant("qwen3tts-1.7b-custom-voice", CUSTOM_VOICE, "1b7", instructions=True),
            Variant("qwen3tts-1.7b-voice-design", VOICE_DESIGN, "1b7", instructions=True),
        )
    }
)

_SPEAKERS = (
    ("vivian", "zh", "female"),
    ("serena", "zh", "female"),
    ("uncle_fu", "zh", "male"),
    ("dylan", "zh", "male"),
    ("eric", "zh", "male"),
    ("ryan", "en", "male"),
    ("aiden", "en", "male"),
    ("ono_anna", "ja", "female"),
    ("sohee", "ko", "female"),
)


def built_in_voices(model: str) -> list[Voice]:
    """The voices of a model before it is loaded."""
    kind = VARIANTS[model].kind
    if kind == CUSTOM_VOICE:
        return [Voice(name, name.replace("_", " ").title(), language, gender) for name, language, gender in _SPEAKERS]
    if kind == VOICE_DESIGN:
        return [Voice(DESIGNED, "Designed", "en", description="As the instructions describe it.")]
    return []
