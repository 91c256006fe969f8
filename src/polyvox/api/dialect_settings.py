"""The settings that dialects bring: read without FastAPI, and without the doors themselves."""

from dataclasses import dataclass
from typing import Protocol

from polyvox.api.dialects.cartesia.settings import CartesiaSettings
from polyvox.api.dialects.cosyvoice.rayserve_settings import RAYSERVE_VARIABLES
from polyvox.api.dialects.elevenlabs.settings import ElevenLabsSettings
from polyvox.api.dialects.kokoro_fastapi.settings import KOKORO_VARIABLES
from polyvox.api.dialects.streamable_settings import STREAMABLE_VARIABLES, StreamableSettings
from polyvox.api.dialects.zipvoice_settings import ZIPVOICE_VARIABLES, ZipVoiceApiSettings
from polyvox.config import SettingsSection
from polyvox.settings_loader import ForeignVariables


class BringsSettings(Protocol):
    """A part of the server with settings of its own, such as a `Door`."""

    @property
    def settings(self) -> type[SettingsSection] | None: ...

    @property
    def foreign(self) -> ForeignVariables | None: ...


@dataclass(frozen=True, slots=True)
class DialectSettings:
    """The settings of one dialect, and the variables of the server whose dialect it is."""

    settings: type[SettingsSection] | None = None
    foreign: ForeignVariables | None = None


# In the order of `DOORS`: where two servers share the name of a variable, the earlier one's meaning holds.
DIALECT_SETTINGS = (
    DialectSettings(foreign=KOKORO_VARIABLES),
    DialectSettings(ZipVoiceApiSettings, ZIPVOICE_VARIABLES),
    DialectSettings(StreamableSettings, STREAMABLE_VARIABLES),
    DialectSettings(foreign=RAYSERVE_VARIABLES),
    DialectSettings(CartesiaSettings),
    DialectSettings(ElevenLabsSettings),
)
