"""Requests of CosyVoice's servers, HTTP and gRPC: a text, and a voice in one of CosyVoice's modes."""

import asyncio
from dataclasses import dataclass
from functools import partial

from pydantic import Field

from polyvox.api.requests.body import off_the_loop
from polyvox.api.requests.fields import Integer, RequestBody
from polyvox.audio.encode import AudioFormat, parse_format
from polyvox.config import Settings
from polyvox.errors import PromptError
from polyvox.service.kinds.script_reader import MarkupRequest
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Utterance
from polyvox.voices.recording.listed_files import read_listed
from polyvox.voices.references import InlineVoice, RegisteredVoice, UrlVoice, parse_reference

_SYSTEM = "You are a helpful assistant."
_END_OF_PROMPT = "<|endofprompt|>"
_REFERENCE_PREFIXES = ("url+", "base64+", "data:")
_SHORTEST_RECORDING = 1_024
"""Characters; a longer text without a prefix is a recording in base64 and no path."""


class CosyVoiceOptions(RequestBody):
    """Fields that the original servers do not have; every request may hold them."""

    seed: Integer | None = Field(None, ge=0, lt=2**63, description="Same seed, same speech.")
    model: str | None = Field(None, description="A model of `/v1/models`; the default model unless given.")
    response_format: str | None = Field(None, description="`mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`.")

    def format_or(self, usual: AudioFormat) -> AudioFormat:
        """The audio format asked for, or the original server's."""
        return usual if self.response_format is None else parse_format(self.response_format)


@dataclass(frozen=True, slots=True)
class CosyVoiceRequest:
    """One request: in a named voice, or in that of a recording.

    A recording with its transcript is continued (`zero_shot`); without one only its sound is used (`cross_lingual`),
    also where an instruction says how to speak (`instruct2`).
    """

    text: str
    speaker: str | None = None
    recording: InlineVoice | UrlVoice | None = None
    transcript: str | None = None
    instruction: str | None = None
    speed: float = 1.0
    sample_rate: int | None = None
    seed: int | None = None
    model: str | None = None

    def speech_request(self, door: str, voices: VoiceService, owner: str) -> SpeechRequest:
        """The same as a request of the service."""
        speaker = self.speaker or ""
        words = self._transcript()
        utterance = Utterance(
            text=strip_system_prompt(self.text),
            voice=speaker,
            speed=self.speed,
            seed=self.seed,
            instructions=strip_instruction(self.instruction or "") or None,
            tuning={} if words is None else {"zero_shot": 1.0},
        )
        resolve_voice = partial(
            voices.resolver.resolve,
            self.recording or RegisteredVoice(speaker),
            owner,
            model=self.model,
            transcript=words,
            wordless=not words,
            instructed=utterance.instructions is not None,
        )
        return SpeechRequest(
            utterance,
            model=self.model,
            sample_rate=self.sample_rate,
            door=door,
            bare_wav=True,
            resolve_voice=resolve_voice,
            markup=MarkupRequest(resolve_voice=voices.resolver.by_name(owner, self.model)),
        )

    def _transcript(self) -> str | None:
        """The transcript; where one is sent it must hold words, since it selects the mode."""
        words = strip_system_prompt(self.transcript or "")
        if self.recording is not None and self.transcript is not None and not words.strip():
            raise PromptError(
                "The transcript of the recording holds no words; send what is said in it.", field="prompt_text"
            )
        return words or None


def strip_system_prompt(text: str) -> str:
    """A text without the system prompt that callers of version 3 put before it; the engine adds it itself."""
    return text.removeprefix(_SYSTEM + _END_OF_PROMPT)


def strip_instruction(instruction: str) -> str:
    """An instruction without the markers that callers of versions 2 and 3 put around it."""
    return instruction.strip().removesuffix(_END_OF_PROMPT).removeprefix(_SYSTEM).strip()


async def read_recording(named: str, settings: Settings, field: str) -> InlineVoice | UrlVoice:
    """The recording that a field names: inline, with its prefix or bare, a URL, or a file in `recording_dirs`."""
    if len(named) >= _SHORTEST_RECORDING and not named[:8].lower().startswith(_REFERENCE_PREFIXES):
        named = f"base64+{named}"
    if named[:8].lower().startswith(_REFERENCE_PREFIXES):
        read = partial(parse_reference, max_bytes=settings.prompt_max_bytes, field=field)
        reference = await off_the_loop(named, read)
        assert isinstance(reference, InlineVoice | UrlVoice)
        return reference
    limit = settings.prompt_max_bytes
    return InlineVoice(await asyncio.to_thread(read_listed, named, settings.recording_dirs, limit, field))
