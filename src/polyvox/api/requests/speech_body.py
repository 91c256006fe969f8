"""The body of a request for speech, which most dialects build on."""

from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from polyvox.api.body_format import BodyFormat, audio_body
from polyvox.api.requests.audio_body import CaptionFields
from polyvox.api.requests.fields import Boolean, RequestBody, Speed, Text
from polyvox.service.kinds.request_kind import SpeakSilence, is_only_marks
from polyvox.service.kinds.script_reader import MarkupRequest
from polyvox.service.kinds.voice_aliases import VoiceAlias, VoiceAliases
from polyvox.service.speech_request import SpeechRequest


class VoiceReference(BaseModel):
    """A voice named by an object, as OpenAI's API allows."""

    id: str


def _name_or_reference(voice: object) -> object:
    if isinstance(voice, str) or (isinstance(voice, dict) and isinstance(voice.get("id"), str)):
        return voice
    raise PydanticCustomError("voice_type", "should be a voice's name or an object with an 'id'")


VoiceName = Annotated[str | VoiceReference, BeforeValidator(_name_or_reference)]


AliasTarget = Annotated[str, Field(pattern=r"^[^\[\]]*[^\[\]\s][^\[\]]*$")]
"""A voice or a mix; neither empty nor with brackets, which no tag could hold."""


class AliasBody(RequestBody):
    """A voice that a short name stands for, and its pace."""

    voice: AliasTarget
    rate: Speed = 1.0


_MAX_ALIASES = 64
_MAX_ALIAS_CHARS = 200


def _short_aliases(aliases: dict[str, object]) -> dict[str, object]:
    if len(aliases) > _MAX_ALIASES or any(len(name) > _MAX_ALIAS_CHARS for name in aliases):
        raise PydanticCustomError("aliases", f"may hold {_MAX_ALIASES} names of {_MAX_ALIAS_CHARS} characters")
    return aliases


class AliasFields(RequestBody):
    """Short names for voices."""

    voice_aliases: Annotated[dict[str, AliasTarget | AliasBody], AfterValidator(_short_aliases)] | None = Field(
        None,
        description='Names for `voice` and for tags: `{"anna": "af_heart(2)+bf_emma", "bert": {"voice": "am_adam", '
        '"rate": 0.9}}`.',
    )

    @property
    def aliases(self) -> VoiceAliases:
        given = (self.voice_aliases or {}).items()
        return VoiceAliases(
            {
                name.strip(): VoiceAlias(one) if isinstance(one, str) else VoiceAlias(one.voice, one.rate)
                for name, one in given
            }
        )


class DownloadFields(RequestBody):
    """Links to the finished file and to the times of its text."""

    return_download_link: Boolean = Field(
        False, description="true: the header X-Download-Path names the finished file, below `/v1`, for a while."
    )
    return_timing: Boolean = Field(
        False, description="true, with `return_download_link`: X-Timing-Path names a file with the times of its text."
    )


class SpeechBody(CaptionFields, AliasFields, DownloadFields):
    """A request for speech: a text and a voice.

    A dialect that shares the path has a class of its own, which may make another request or another form of answer.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"model": "kokoro", "input": "The tide is out and the boats lie on the sand.", "voice": "af_heart"},
                {
                    "model": "tts-1",
                    "input": "Twice as fast, blended from two voices.",
                    "voice": "af_heart(2)+bf_emma(1)",
                    "response_format": "wav",
                    "speed": 2.0,
                },
            ]
        }
    )

    input: Text = Field(description="The text to speak.")
    voice: VoiceName | None = Field(
        None,
        description='A voice, a mix such as `af_heart(2)+bf_emma(1)`, or `{"id": "af_heart"}`; for models that clone '
        "voices also one of `/v1/voices`, or a recording as `base64+...`, a data URL or `url+https://...`.",
    )
    prompt_text: Text | None = Field(
        None, description="Transcript of the recording that `voice` names or carries; recognised from it if absent."
    )

    allow_voice_tags: Boolean | None = Field(
        None,
        description="true: `[voice:am_adam]` and `[rate:1.2]` in the text are obeyed, an unknown voice is refused, and "
        "words have a `voice`. false: they are dropped.",
    )
    ssml: Boolean | None = Field(
        None, description="true: the text is SSML. false: it is none. If absent, one that begins with `<speak` is."
    )

    @property
    def body_format(self) -> BodyFormat:
        """The form of the answer, where it is audio and nothing else."""
        return audio_body(self.audio_format, stream=self.stream)

    @property
    def openai_names(self) -> bool:
        """True if OpenAI's voice names stand for voices of this server."""
        return True

    @property
    def voice_name(self) -> str | None:
        """The voice that is asked for, by the name that an alias stands for."""
        alias = self._alias
        return self._given_voice if alias is None else alias.voice

    @property
    def _given_voice(self) -> str | None:
        return self.voice.id if isinstance(self.voice, VoiceReference) else self.voice

    @property
    def _alias(self) -> VoiceAlias | None:
        return self.aliases.find(self._given_voice or "") if self.voice_aliases else None

    @property
    def speaker_names(self) -> dict[str, str]:
        """Names in captions of the voices of a text with several: their aliases."""
        return {alias.voice: name for name, alias in self.aliases.by_name.items()}

    def speech_request(self, door: str) -> SpeechRequest:
        """The same as a request of the service; a text of punctuation alone is a short silence."""
        request = self.request_for(self.input, self.voice_name or "", door)
        if is_only_marks(self.input):
            return replace(request, kind=SpeakSilence(self.input))
        rate = 1.0 if self._alias is None else self._alias.rate
        tags = self.allow_voice_tags
        markup = MarkupRequest(tags, self.aliases, rate=rate, ssml=self.ssml, all_voices=tags is True)
        return replace(request, markup=markup)
