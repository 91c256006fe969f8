"""The engines this server knows, by the names that callers use."""

from collections.abc import Callable
from types import MappingProxyType

from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.engines.kokoro.engine import KokoroEngine

ENGINES: MappingProxyType[str, Callable[[Settings], Engine]] = MappingProxyType({"kokoro": KokoroEngine})

KNOWN_BUT_ABSENT: MappingProxyType[str, str] = MappingProxyType(
    {
        name: f"This release has no {family} engine; use the model 'kokoro', which speaks with its own voices."
        for family, names in (
            ("ZipVoice", ("zipvoice", "zipvoice_distill", "zipvoice_dialog", "zipvoice_dialog_stereo")),
            ("CosyVoice", ("cosyvoice2", "cosyvoice3")),
            ("codec language model", ("speechlm",)),
        )
        for name in names
        if name not in ENGINES
    }
)
"""Models that callers of other servers ask for, and why they get none here."""
