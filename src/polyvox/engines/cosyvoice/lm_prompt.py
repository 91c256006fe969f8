"""The prompt of the language model: its mode follows from the voice and the request."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from polyvox.engines.cosyvoice.frontend.tags import END_OF_PROMPT
from polyvox.engines.cosyvoice.frontend.tokenizer import TextTokenizer
from polyvox.engines.cosyvoice.frontend.whisper_tokenizer import WhisperTokenizer
from polyvox.models.cosyvoice.bistream import Bistream
from polyvox.models.cosyvoice.speech_vocabulary import SpeechVocabulary
from polyvox.types import PreparedVoice

SYSTEM = "You are a helpful assistant."
"""Version 3's system prompt; the model was trained with it and speaks badly without it."""


END_MARKS = (END_OF_PROMPT, "<endofprompt>")
"""Marks that callers of version 1 put behind an instruction; it was trained with the second."""


class PromptMode(StrEnum):
    """The prompt's use of a voice, by CosyVoice's names."""

    SFT = "sft"
    """A speaker of the training data, without a recording."""
    ZERO_SHOT = "zero_shot"
    """The model continues the recording, given its transcript."""
    CROSS_LINGUAL = "cross_lingual"
    """Only the sound of the recording is used, for its words are of another language."""
    INSTRUCT = "instruct2"
    """As cross-lingual, with an instruction on how to speak; version 1's `instruct`, which takes any voice."""
    CONVERSION = "vc"
    """Voice conversion: the speech tokens come from a recording, without the language model."""


@dataclass(frozen=True, slots=True)
class LmPrompt:
    """Text ids and speech tokens that precede the language model's own, and the voice, which conditions the flow."""

    mode: PromptMode
    prompt_text: tuple[int, ...]
    prompt_speech: tuple[int, ...]
    voice: PreparedVoice
    opening: int = 0
    """Leading ids of `prompt_text` that are never interleaved with speech: version 3's system prompt."""
    speaker: npt.NDArray[np.float32] | None = None
    """The speaker's embedding [192], which version 1's language model is given in every mode but instruct."""

    def bistream(self, vocabulary: SpeechVocabulary) -> Bistream:
        """Start a sequence whose text is still arriving."""
        text, rest = self.prompt_text[: self.opening], self.prompt_text[self.opening :]
        return Bistream.start(vocabulary, rest, self.prompt_speech, opening=text)

    @property
    def flow_tokens(self) -> npt.NDArray[Any]:
        """The voice's speech tokens, which the flow is prompted with in every mode."""
        return self.voice.arrays.get("tokens", np.zeros(0, np.int32))


def choose_mode(
    voice: PreparedVoice, instructions: str | None, language: str, *, zero_shot: bool = False
) -> PromptMode:
    """The mode for a text of a language in this voice; `zero_shot` forces that mode where the languages differ."""
    if instructions:
        return PromptMode.INSTRUCT
    if "tokens" not in voice.arrays:
        return PromptMode.SFT
    if not len(voice.arrays["text"]):
        return PromptMode.CROSS_LINGUAL
    recorded = _stored_language(voice.arrays)
    requested = language.partition("-")[0]
    return PromptMode.CROSS_LINGUAL if recorded and recorded != requested and not zero_shot else PromptMode.ZERO_SHOT


def strip_end_mark(instructions: str) -> str:
    """Instructions without the mark at their end, which the engine adds itself."""
    text = instructions.strip()
    for mark in END_MARKS:
        text = text.removesuffix(mark)
    return text.strip()


def build_prompt_v1(
    voice: PreparedVoice, mode: PromptMode, instructions: str | None, tokenizer: WhisperTokenizer, end_mark: str
) -> LmPrompt:
    """Version 1's prompt: an instruction takes the place of the transcript and of the speaker."""
    if mode is PromptMode.INSTRUCT:
        return LmPrompt(mode, tuple(tokenizer.encode(f"{instructions}{end_mark}")), (), voice)
    speaker = voice.arrays["embedding"]
    if mode is not PromptMode.ZERO_SHOT:
        return LmPrompt(mode, (), (), voice, speaker=speaker)
    transcript, tokens = (tuple(int(each) for each in voice.arrays[name]) for name in ("text", "tokens"))
    return LmPrompt(mode, transcript, tokens, voice, speaker=speaker)


def build_prompt(
    voice: PreparedVoice, mode: PromptMode, instructions: str | None, tokenizer: TextTokenizer, version: int
) -> LmPrompt:
    """Assemble what precedes the text in the language model's input, in versions 2 and 3."""
    prompt = _prompt(voice, mode, instructions, tokenizer, version)
    end = tokenizer.special(END_OF_PROMPT)
    if version == 3 and end in prompt.prompt_text:
        return replace(prompt, opening=prompt.prompt_text.index(end) + 1)
    return prompt


def _prompt(
    voice: PreparedVoice, mode: PromptMode, instructions: str | None, tokenizer: TextTokenizer, version: int
) -> LmPrompt:
    end = tokenizer.special(END_OF_PROMPT)
    system = [*tokenizer.encode(SYSTEM), end] if version == 3 else []
    if mode is PromptMode.INSTRUCT:
        instruction = f"{SYSTEM} {instructions}" if version == 3 else f"{instructions}"
        return LmPrompt(mode, (*tokenizer.encode(instruction), end), (), voice)
    if mode is not PromptMode.ZERO_SHOT:
        return LmPrompt(mode, tuple(system), (), voice)
    transcript = [int(number) for number in voice.arrays["text"]]
    if end in transcript:
        system = []
    return LmPrompt(mode, (*system, *transcript), tuple(int(token) for token in voice.arrays["tokens"]), voice)


def language_array(language: str) -> npt.NDArray[np.uint8]:
    """The transcript's language, for `PreparedVoice.arrays`."""
    return np.frombuffer(language.encode(), np.uint8)


def _stored_language(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    return bytes(arrays["language"]).decode() if "language" in arrays else ""
