"""What the language model is asked: a speaker and a text, or a recording's words and tokens and a text."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from polyvox.errors import InvalidRequestError, PromptError
from polyvox.models.speechlm.neucodec import TOKENS
from polyvox.runtime.tokens import Prompt
from polyvox.types import PreparedVoice

START = "<|im_start|>"
END = "<|im_end|>"
SPEECH = "<|speech_start|>"
TOKENS_PER_SECOND = 50
LONGEST_VOICE = 30 * TOKENS_PER_SECOND


def code_text(code: int) -> str:
    """A token of the codec as the model's vocabulary names it."""
    return f"<|s_{code}|>"


class Encoding(Protocol):
    """The model's vocabulary, where it is at hand."""

    @property
    def first_code(self) -> int: ...

    @property
    def codes(self) -> int: ...

    def encode(self, text: str) -> list[int]:
        """The ids of a text; names of control tokens in it are their ids."""


@dataclass(frozen=True, slots=True)
class CodeVoice:
    """A recording as the model hears it: the codec's tokens, and the words."""

    codes: npt.NDArray[np.int32]
    transcript: str

    @classmethod
    def checked(cls, codes: npt.ArrayLike, transcript: str, field: str = "reference_codes") -> "CodeVoice":
        """A voice of tokens that anybody may have sent."""
        array = np.asarray(codes)
        if array.ndim != 1 or not len(array) or array.dtype.kind not in "iu":
            raise PromptError("The voice's tokens must be a list of whole numbers, at least one.", field=field)
        if array.min() < 0 or array.max() >= TOKENS:
            raise PromptError(f"The voice's tokens must lie between 0 and {TOKENS - 1}.", field=field)
        if len(array) > LONGEST_VOICE:
            raise PromptError(f"The voice has {len(array)} tokens; {LONGEST_VOICE} are the most.", field=field)
        if not transcript.strip():
            raise PromptError("The words of the recording are missing; send its transcript.", field="reference_text")
        return cls(array.astype(np.int32), transcript)

    @classmethod
    def unpacked(cls, voice: PreparedVoice, engine: str) -> "CodeVoice":
        if voice.engine != engine:
            raise InvalidRequestError(
                f"This voice was prepared for {voice.engine!r}, not for {engine!r}.", field="voice"
            )
        return cls(voice.arrays["codes"].astype(np.int32), bytes(voice.arrays["transcript"]).decode())

    def packed(self, engine: str, digest: str) -> PreparedVoice:
        words = np.frombuffer(self.transcript.encode(), np.uint8)
        return PreparedVoice(engine, digest, {"codes": self.codes, "transcript": words})


@dataclass(frozen=True, slots=True)
class Prompts:
    """Writes prompts; without the vocabulary, as text only."""

    encoding: Encoding | None

    def named(self, speaker: str, text: str) -> Prompt:
        """For a speaker that the model was trained on."""
        return self._prompt([START, f"{_inert(speaker)}: {_inert(text)}", SPEECH], ())

    def cloned(self, voice: CodeVoice, text: str) -> Prompt:
        """For the speaker of a recording. Everything before the text is the same whatever is said."""
        if self.encoding is not None and voice.codes.max() >= self.encoding.codes:
            raise PromptError(f"The model has no tokens beyond {self.encoding.codes - 1}; the voice is of another.")
        before: list[str | CodeVoice] = [START, _inert(voice.transcript), SPEECH, voice, END, START]
        prompt = self._prompt([*before, _inert(text), SPEECH], tuple(voice.codes.tolist()))
        if self.encoding is None:
            return prompt
        end = self.encoding.codes
        return Prompt(prompt.ids, prompt.text, shared=len(self._ids(before)), seen=(*prompt.seen, end))

    def _prompt(self, parts: "list[str | CodeVoice]", seen: tuple[int, ...]) -> Prompt:
        text = "".join(part if isinstance(part, str) else _written(part) for part in parts)
        return Prompt(self._ids(parts), text, seen=seen)

    def _ids(self, parts: "list[str | CodeVoice]") -> tuple[int, ...]:
        """The ids part by part, since control tokens stand between them."""
        if self.encoding is None:
            return ()
        ids: list[int] = []
        for part in parts:
            if isinstance(part, str):
                ids += self.encoding.encode(part)
            else:
                ids += (part.codes + self.encoding.first_code).tolist()
        return tuple(ids)


def _written(voice: CodeVoice) -> str:
    return "".join(map(code_text, voice.codes.tolist()))


def _inert(text: str) -> str:
    """A caller's words, in which nothing can be taken for a control token."""
    return text.replace("<|", "< |")
