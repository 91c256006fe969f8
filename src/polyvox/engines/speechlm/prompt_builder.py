"""Prompts of the language model: a speaker and a text, or a recording's transcript and tokens and a text."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from polyvox.engines.speechlm.tuning import TOKENS_PER_SECOND
from polyvox.errors import InvalidRequestError, PromptError
from polyvox.models.speechlm.neucodec import TOKENS
from polyvox.runtime.tokens import Prompt
from polyvox.types import PreparedVoice

START = "<|im_start|>"
END = "<|im_end|>"
SPEECH = "<|speech_start|>"
MAX_VOICE_TOKENS = 30 * TOKENS_PER_SECOND


def code_text(code: int) -> str:
    """A token of the codec as the model's vocabulary names it."""
    return f"<|s_{code}|>"


class PromptEncoder(Protocol):
    """The model's vocabulary; absent where a server has it."""

    @property
    def first_code(self) -> int: ...

    @property
    def codes(self) -> int: ...

    def encode(self, text: str) -> list[int]:
        """The ids of a text; names of control tokens in it are their ids."""


@dataclass(frozen=True, slots=True)
class CodeVoice:
    """A cloned voice: a recording's codec tokens and its transcript."""

    codes: npt.NDArray[np.int32]
    transcript: str

    @classmethod
    def of(cls, codes: npt.ArrayLike, transcript: str, field: str = "reference_codes") -> "CodeVoice":
        """Check tokens and transcript of a caller; PromptError names the field at fault."""
        array = np.asarray(codes)
        if array.ndim != 1 or not len(array) or array.dtype.kind not in "iu":
            raise PromptError("The voice's tokens must be a list of whole numbers, at least one.", field=field)
        if array.min() < 0 or array.max() >= TOKENS:
            raise PromptError(f"The voice's tokens must lie between 0 and {TOKENS - 1}.", field=field)
        if len(array) > MAX_VOICE_TOKENS:
            raise PromptError(f"The voice has {len(array)} tokens; {MAX_VOICE_TOKENS} are the most.", field=field)
        check_transcript(transcript)
        return cls(array.astype(np.int32), transcript)

    @classmethod
    def unpack(cls, voice: PreparedVoice, engine: str) -> "CodeVoice":
        if voice.engine != engine:
            raise InvalidRequestError(
                f"This voice was prepared for {voice.engine!r}, not for {engine!r}.", field="voice"
            )
        return cls(voice.arrays["codes"].astype(np.int32), bytes(voice.arrays["transcript"]).decode())

    def pack(self, engine: str, digest: str) -> PreparedVoice:
        words = np.frombuffer(self.transcript.encode(), np.uint8)
        return PreparedVoice(engine, digest, {"codes": self.codes, "transcript": words})


def check_transcript(transcript: str) -> None:
    """PromptError where a recording's words are missing."""
    if not transcript.strip():
        raise PromptError("The words of the recording are missing; send its transcript.", field="reference_text")


@dataclass(frozen=True, slots=True)
class PromptBuilder:
    """Builds prompts; without the vocabulary, as text only."""

    encoder: PromptEncoder | None

    def named(self, speaker: str, text: str) -> Prompt:
        """Prompt of a speaker that the model was trained on."""
        return self._prompt([START, f"{_escape(speaker)}: {_escape(text)}", SPEECH], ())

    def cloned(self, voice: CodeVoice, text: str) -> Prompt:
        """Prompt of a cloned voice. Everything before the text is a shared prefix."""
        if self.encoder is not None and voice.codes.max() >= self.encoder.codes:
            raise PromptError(f"The model has no tokens beyond {self.encoder.codes - 1}; the voice is of another.")
        before: list[str | CodeVoice] = [START, _escape(voice.transcript), SPEECH, voice, END, START]
        prompt = self._prompt([*before, _escape(text), SPEECH], tuple(voice.codes.tolist()))
        if self.encoder is None:
            return prompt
        end = self.encoder.codes
        return Prompt(prompt.ids, prompt.text, shared=len(self._ids(before)), seen=(*prompt.seen, end))

    def _prompt(self, parts: "list[str | CodeVoice]", seen: tuple[int, ...]) -> Prompt:
        text = "".join(part if isinstance(part, str) else _code_texts(part) for part in parts)
        return Prompt(self._ids(parts), text, seen=seen)

    def _ids(self, parts: "list[str | CodeVoice]") -> tuple[int, ...]:
        """The ids, encoded part by part, since control tokens separate the parts."""
        if self.encoder is None:
            return ()
        ids: list[int] = []
        for part in parts:
            if isinstance(part, str):
                ids += self.encoder.encode(part)
            else:
                ids += (part.codes + self.encoder.first_code).tolist()
        return tuple(ids)


def _code_texts(voice: CodeVoice) -> str:
    return "".join(map(code_text, voice.codes.tolist()))


def _escape(text: str) -> str:
    """Break up whatever a tokenizer could take for a control token."""
    return text.replace("<|", "< |")
