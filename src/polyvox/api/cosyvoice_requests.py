"""What callers of CosyVoice's servers ask for, whichever of them they call: a text, and a voice in one of its modes."""

import asyncio
from dataclasses import dataclass
from functools import partial

from polyvox.api.body import off_the_loop
from polyvox.config import Settings
from polyvox.errors import PromptError
from polyvox.service.speech import SpeechRequest
from polyvox.service.voices import VoiceService
from polyvox.types import Utterance
from polyvox.voices.listed_files import read_listed
from polyvox.voices.references import InlineVoice, RegisteredVoice, UrlVoice, parse_reference

_SYSTEM = "You are a helpful assistant."
_END_OF_PROMPT = "<|endofprompt|>"
_CARRIED = ("url+", "base64+", "data:")


@dataclass(frozen=True, slots=True)
class Inference:
    """One request: in a voice that is named, or in that of a recording.

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

    def request(self, door: str, settings: Settings, voices: VoiceService, owner: str) -> SpeechRequest:
        """The same in the hall's words."""
        speaker = self.speaker or settings.default_voice
        words = self._words()
        utterance = Utterance(
            text=unframed(self.text),
            voice=speaker,
            speed=self.speed,
            instructions=bare_instruction(self.instruction or "") or None,
            tuning={} if words is None else {"zero_shot": 1.0},
        )
        cast = partial(
            voices.casting.cast, self.recording or RegisteredVoice(speaker), owner, transcript=words, wordless=not words
        )
        return SpeechRequest(utterance, sample_rate=self.sample_rate, door=door, cast=cast)

    def _words(self) -> str | None:
        """What is said in the recording. Where a transcript is sent it has to hold words, for it chooses the mode."""
        words = unframed(self.transcript or "")
        if self.recording is not None and self.transcript is not None and not words.strip():
            raise PromptError(
                "The transcript of the recording holds no words; send what is said in it.", field="prompt_text"
            )
        return words or None


def unframed(text: str) -> str:
    """A text without what callers of version 3 have to put before it; the engine adds it by itself."""
    return text.removeprefix(_SYSTEM + _END_OF_PROMPT)


def bare_instruction(instruction: str) -> str:
    """An instruction without what callers of versions 2 and 3 have to put around it."""
    return instruction.strip().removesuffix(_END_OF_PROMPT).removeprefix(_SYSTEM).strip()


async def named_recording(named: str, settings: Settings, field: str) -> InlineVoice | UrlVoice:
    """A recording that a text stands for: carried in it, at an address, or in a file that the settings let be read."""
    if named[:8].lower().startswith(_CARRIED):
        read = partial(parse_reference, max_bytes=settings.prompt_max_bytes, field=field)
        reference = await off_the_loop(named, read)
        assert isinstance(reference, InlineVoice | UrlVoice)
        return reference
    limit = settings.prompt_max_bytes
    return InlineVoice(await asyncio.to_thread(read_listed, named, settings.recording_dirs, limit, field))
