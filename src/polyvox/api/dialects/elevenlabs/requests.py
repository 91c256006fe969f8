"""Bodies of ElevenLabs' requests for speech, and what they are in this server's words.

Fields that nothing here depends on, such as `stability` or `previous_text`, are taken and not read.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field

from polyvox.api.dialects.elevenlabs.output_format import OutputFormat
from polyvox.api.dialects.elevenlabs.settings import ElevenLabsSettings
from polyvox.api.requests.fields import Integer, Number, RequestBody, Speed, Text
from polyvox.api.requests.languages import language_tag
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.config import Settings
from polyvox.errors import InvalidRequestError
from polyvox.service.registry.registry import Registry

NAME = "elevenlabs"
"""The door's name in logs and metrics."""

FIELD_NAMES: Mapping[str, str | None] = MappingProxyType(
    {
        "input": "text",
        "voice": "voice_id",
        "model": "model_id",
        "language": "language_code",
        "lang_code": "language_code",
        "speed": "voice_settings.speed",
        "sample_rate": "output_format",
    }
)
_MODEL_PREFIX = "eleven_"
_NEUTRAL = 0.5
_SSML_TAG = re.compile(r"<break\b[^<>]*/>|<phoneme\b[^<>]*>[^<>]*</phoneme>")
"""The elements that ElevenLabs' models obey in the middle of a plain text."""


class VoiceSettings(RequestBody):
    """Of ElevenLabs' voice settings, those that models here have."""

    speed: Speed = Field(1.0, description="1 is the voice's own pace.")
    style: Number = Field(0.0, ge=0, le=1, description="Exaggerates expression, with models that have such a scale.")

    @property
    def exaggeration(self) -> float | None:
        """The style on the scale of models, whose middle is neutral; None where it changes nothing."""
        return _NEUTRAL + self.style / 2 if self.style else None


_DEFAULTS = VoiceSettings.model_validate({})


class GenerationFields(RequestBody):
    """Fields that requests for one voice and for a dialogue have in common."""

    model_id: str | None = Field(None, description="`eleven_...` for the server's model, or one of this server's.")
    language_code: str | None = Field(None, description="Read as this language, if the model speaks it.")
    seed: Integer | None = Field(None, ge=0, lt=2**63, description="For engines that sample.")
    apply_text_normalization: str | None = Field(None, description="`off`: the text is not normalised.")


class TextToSpeechBody(GenerationFields):
    """A text to speak."""

    text: Text = Field(description="The text to speak.")
    voice_settings: VoiceSettings | None = Field(None, description="`speed` and `style` are used.")


def model_name(model_id: str | None, settings: Settings) -> str | None:
    """The model that a model id stands for; None for the default one."""
    if not model_id or model_id.startswith(_MODEL_PREFIX):
        return settings.section(ElevenLabsSettings).model or None
    return model_id


def speech_body(
    fields: GenerationFields,
    text: str,
    voice: str,
    settings: VoiceSettings | None,
    output: OutputFormat,
    registry: Registry,
    model: str | None,
) -> SpeechBody:
    """A request in this server's words."""
    settings = settings or _DEFAULTS
    normalization = {"normalize": False} if fields.apply_text_normalization == "off" else None
    return SpeechBody.model_validate(
        {
            "input": text,
            "voice": voice or None,
            "model": model,
            "speed": settings.speed,
            "exaggeration": settings.exaggeration,
            "seed": fields.seed,
            "lang_code": spoken_language(fields.language_code, voice, registry, model),
            "sample_rate": output.sample_rate,
            "normalization_options": normalization,
            "ssml": True if _has_ssml(text) else None,
        }
    )


def spoken_language(code: str | None, voice: str, registry: Registry, model: str | None) -> str | None:
    """The language to read in; None for the voice's own, also where the model does not speak the one asked for.

    ElevenLabs ignores a language that a model lacks. `en` leaves a British voice British.
    """
    try:
        tag = language_tag(code, "language_code") if code else None
    except InvalidRequestError:
        return None
    known = registry.model(model)
    if tag is None or tag not in known.languages:
        return None
    own = next((one.language for one in registry.voices(model) if one.id == voice), "")
    return None if own.partition("-")[0] == tag.partition("-")[0] else tag


def _has_ssml(text: str) -> bool:
    """Return whether a text has pauses or phonemes in SSML, and nothing that would keep it from being read as such."""
    bare, tags = _SSML_TAG.subn("", text)
    return tags > 0 and not set("<>&") & set(bare)
