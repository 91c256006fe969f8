"""Settings of the dialect: what Cartesia's voices stand for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pydantic import Field

from polyvox.config import CommaList, SettingsSection, VoiceAlias

# Voices that clients name by default or in their examples, each by one of the same sex and accent.
KNOWN_VOICES: Mapping[str, str] = MappingProxyType(
    {
        "f786b574-daa5-4673-aa0c-cbe3e8534c02": "af_heart",  # Katie, the default of LiveKit's plugin
        "6ccbfb76-1fc6-48f7-b71d-91ac6298247b": "af_bella",  # Tessa, the default of the SDK's contexts
        "e07c00bc-4134-4eae-9ea4-1a55fb45746b": "af_nicole",  # Brooke, of the SDK's examples
        "694f9389-aac1-45b6-b726-9d9369183238": "af_sarah",  # Sarah, of the older SDKs' examples
        "71a7ad14-091c-4e8e-a314-022ece01c121": "bf_emma",  # British Reading Lady, of Pipecat's examples
        "79a125e8-cd45-4c13-8a67-188112f4dd22": "bf_isabella",  # British Lady, of Pipecat's older examples
        "9626c31c-bec5-4cca-baa8-f8ba9e84c8bc": "af_nova",  # Jacqueline
        "cbaf8084-f009-4838-a096-07ee2e6612b1": "af_kore",  # Maya
        "26403c37-80c1-4a1a-8692-540551ca2ae5": "af_aoede",  # Marian
        "156fb8d2-335b-4950-9cb3-a2d33befec77": "af_sky",  # Sunny
        "bf0a246a-8642-498a-9950-80c35e9276b5": "af_alloy",  # Sophie
        "78ab82d5-25be-4f7d-82b3-7ad64e5b85b2": "af_river",  # Savannah
        "228fca29-3a0a-435c-8728-5cb483251068": "am_michael",  # Kiefer
        "0834f3df-e650-4766-a20c-5a93a43aa6e3": "am_fenrir",  # Leo
        "6776173b-fd72-460d-89b3-d85812ee518d": "am_liam",  # Jace
        "c961b81c-a935-4c17-bfb3-ba2239de8c2f": "am_puck",  # Kyle
        "729651dc-c6c3-4ee5-97fa-350da1f88600": "am_echo",  # Jake
        "5ee9feff-1265-424a-9d7f-8e4d431a12c7": "am_onyx",  # Ronald
    }
)


class CartesiaSettings(SettingsSection):
    """Names of Cartesia's, and what they stand for here."""

    section: ClassVar[str] = "cartesia"

    voices: CommaList[VoiceAlias] = Field(
        [],
        description="What ids of Cartesia's voices stand for, as `id=voice`, besides those that its clients name "
        "by default.",
    )

    @property
    def voice_map(self) -> Mapping[str, str]:
        """Voices of this server by Cartesia's ids."""
        given = (alias.split("=", 1) for alias in self.voices)
        return {**KNOWN_VOICES, **{voice_id.strip().lower(): voice.strip() for voice_id, voice in given}}
