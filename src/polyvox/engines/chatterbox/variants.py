"""The released models of the family, by the names that callers use."""

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from polyvox.types import Voice

LANGUAGES = frozenset("ar da de el en es fi fr he hi it ja ko ms nl no pl pt ru sv sw tr zh".split())
"""Of the multilingual model; the others speak English alone."""
DEFAULT_VOICE = "default"
"""The voice that comes with each model."""
CONDITIONS = "conds.pt"


@dataclass(frozen=True, slots=True)
class Variant:
    """One released model: its languages, and the names of its files without their endings, the newest first."""

    name: str
    t3: tuple[str, ...]
    s3gen: tuple[str, ...] = ("s3gen",)
    languages: frozenset[str] = frozenset({"en"})
    turbo: bool = False
    """True of Turbo and Nano: a GPT-2 without guidance, and a flow of two steps."""
    cuts_end: bool = False
    """True if the audio of the last speech token is left out, as it is noise."""

    @property
    def multilingual(self) -> bool:
        return len(self.languages) > 1


VARIANTS = MappingProxyType(
    {
        variant.name: variant
        for variant in (
            Variant("chatterbox", ("t3_cfg",)),
            Variant(
                "chatterbox-multilingual",
                ("t3_mtl23ls_v3", "t3_mtl23ls_v2", "t3_23lang"),
                languages=LANGUAGES,
                cuts_end=True,
            ),
            Variant("chatterbox-turbo", ("t3_turbo_v1",), ("s3gen_meanflow",), turbo=True),
            Variant("chatterbox-nano", ("t3_nano_v1",), ("s3gen_meanflow",), turbo=True),
        )
    }
)


def built_in_voices(folder: Path) -> list[Voice]:
    """The voice in a model's folder, if there is one."""
    if not (folder / CONDITIONS).is_file():
        return []
    return [Voice(DEFAULT_VOICE, "Default", "en", description="The voice that comes with the model.")]
