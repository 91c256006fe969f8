"""What the language model reads before it speaks: the mode follows from the voice and from what the caller asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from polyvox.engines.cosyvoice.tags import END_OF_PROMPT
from polyvox.engines.cosyvoice.tokenizer import TextTokenizer
from polyvox.models.cosyvoice.bistream import Bistream
from polyvox.models.cosyvoice.speech_vocabulary import SpeechVocabulary
from polyvox.text.detect import detect_language
from polyvox.types import PreparedVoice

SYSTEM = "You are a helpful assistant."
"""Version 3 was trained with this before every prompt and does not speak well without it."""


class Mode(StrEnum):
    """How a voice is used."""

    SFT = "sft"
    """A voice that the model was trained on."""
    ZERO_SHOT = "zero_shot"
    """The model goes on speaking after the recording, whose transcript it has read."""
    CROSS_LINGUAL = "cross_lingual"
    """Only the sound of the recording is used: its words are of another language."""
    INSTRUCT = "instruct2"
    """Likewise, and an instruction says how to speak."""
    CONVERSION = "vc"
    """The words come from a recording; the language model has no part in it."""


@dataclass(frozen=True, slots=True)
class Cast:
    """A voice in one mode: text and speech that stand before the language model's own, and what the flow goes by."""

    mode: Mode
    prompt_text: tuple[int, ...]
    prompt_speech: tuple[int, ...]
    voice: PreparedVoice
    opening: int = 0
    """How many ids of the prompt's text, in version 3 those up to the end of the system's, stand before all else."""

    def bistream(self, vocabulary: SpeechVocabulary) -> Bistream:
        """The beginning of a sequence whose text is still arriving; `opening` is not mixed with speech."""
        text, rest = self.prompt_text[: self.opening], self.prompt_text[self.opening :]
        return Bistream.start(vocabulary, rest, self.prompt_speech, opening=text)

    @property
    def flow_tokens(self) -> npt.NDArray[Any]:
        return self.voice.arrays.get("tokens", np.zeros(0, np.int32))


def mode_of(
    voice: PreparedVoice, text: str, instructions: str | None, language: str | None, *, zero_shot: bool = False
) -> Mode:
    """The mode for a text in this voice; `zero_shot` asks for that one where the languages differ, too."""
    if "tokens" not in voice.arrays:
        return Mode.SFT
    if instructions:
        return Mode.INSTRUCT
    if not len(voice.arrays["text"]):
        return Mode.CROSS_LINGUAL
    spoken = _stored_language(voice.arrays)
    asked = (language or detect_language(text)).partition("-")[0]
    return Mode.CROSS_LINGUAL if spoken and spoken != asked and not zero_shot else Mode.ZERO_SHOT


def cast(voice: PreparedVoice, mode: Mode, instructions: str | None, tokenizer: TextTokenizer, version: int) -> Cast:
    """The voice with all that the language model reads before the text."""
    made = _cast(voice, mode, instructions, tokenizer, version)
    end = tokenizer.special(END_OF_PROMPT)
    if version == 3 and end in made.prompt_text:
        return replace(made, opening=made.prompt_text.index(end) + 1)
    return made


def _cast(voice: PreparedVoice, mode: Mode, instructions: str | None, tokenizer: TextTokenizer, version: int) -> Cast:
    end = tokenizer.special(END_OF_PROMPT)
    system = [*tokenizer.encode(SYSTEM), end] if version == 3 else []
    if mode is Mode.INSTRUCT:
        asked = f"{SYSTEM} {instructions}" if version == 3 else f"{instructions}"
        return Cast(mode, (*tokenizer.encode(asked), end), (), voice)
    if mode is not Mode.ZERO_SHOT:
        return Cast(mode, tuple(system), (), voice)
    transcript = [int(number) for number in voice.arrays["text"]]
    if end in transcript:
        system = []
    return Cast(mode, (*system, *transcript), tuple(int(token) for token in voice.arrays["tokens"]), voice)


def language_array(transcript: str) -> npt.NDArray[np.uint8]:
    """The transcript's language, for `PreparedVoice.arrays`."""
    return np.frombuffer(detect_language(transcript).encode(), np.uint8)


def _stored_language(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    return bytes(arrays["language"]).decode() if "language" in arrays else ""
