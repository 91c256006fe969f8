"""Settings of this dialect."""

from typing import ClassVar

from pydantic import Field

from polyvox.config import CommaList, SettingsSection, VoiceAlias


class ElevenLabsSettings(SettingsSection):
    """Meanings of ElevenLabs' names on this server."""

    section: ClassVar[str] = "elevenlabs"

    voices: CommaList[VoiceAlias] = Field(
        [],
        description="What ElevenLabs' voice ids or names stand for, as `id=voice`; they go before the built-in list.",
    )
    model: str = Field("", description="Model for the names `eleven_...`; the default model if empty.")
