"""Prompts of the language model: a speaker and a text, or a recording's transcript and tokens and a text."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from polyvox.engines.kit.checks import check_engine
from polyvox.engines.speechlm.tuning import TOKENS_PER_SECOND
from polyvox.errors import PromptError
from polyvox.models.speechlm.neucodec import TOKENS
from polyvox.runtime.tokens import Prompt
from polyvox.types import PreparedVoice

START = "<|im_start|>"
END = "<|im_end|>"
SPEECH = "<|speech_start|>"
MAX_VOICE_TOKENS = 30 * TOKENS_PER_SECOND
_KEPT_VOICES = 64


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
        check_engine(voice, engine)
        return cls(voice.arrays["codes"].astype(np.int32), bytes(voice.arrays["transcript"]).decode())

    def pack(self, engine: str, digest: str) -> PreparedVoice:
        words = np.frombuffer(self.transcript.encode(), np.uint8)
        return PreparedVoice(engine, digest, {"codes": self.codes, "transcript": words})


def check_transcript(transcript: str) -> None:
    """PromptError where a recording's words are missing."""
    if not transcript.strip():
        raise PromptError("The words of the recording are missing; send its transcript.", field="reference_text")


@dataclass(frozen=True, slots=True)
class _VoicePrefix:
    """The prefix before the text in every prompt of a cloned voice."""

    ids: tuple[int, ...]
    text: str
    seen: tuple[int, ...]


class PromptBuilder:
    """Builds prompts; without the vocabulary, as text only.

    What the last few cloned voices add to a prompt is kept: it takes longer to make than the rest. `normalize` makes of
    a recording's transcript what the model reads.
    """

    def __init__(self, encoder: PromptEncoder | None, normalize: Callable[[str], str] = str) -> None:
        self._encoder = encoder
        self._normalize = normalize
        self._prefixes: OrderedDict[tuple[bytes, str], _VoicePrefix] = OrderedDict()

    def named(self, speaker: str, text: str) -> Prompt:
        """Prompt of a speaker that the model was trained on."""
        before = _VoicePrefix(self._ids([START]), START, ())
        return self._prompt(before, f"{_escape(speaker)}: {_escape(text)}")

    def cloned(self, voice: CodeVoice, text: str) -> Prompt:
        """Prompt of a cloned voice. Everything before the text is a shared prefix."""
        before = self._voice_prefix(voice)
        return replace(self._prompt(before, _escape(text)), shared=len(before.ids))

    def _voice_prefix(self, voice: CodeVoice) -> _VoicePrefix:
        key = voice.codes.tobytes(), voice.transcript
        prefix = self._prefixes.get(key) or self._made_prefix(voice)
        self._prefixes[key] = prefix
        self._prefixes.move_to_end(key)
        if len(self._prefixes) > _KEPT_VOICES:
            self._prefixes.popitem(last=False)
        return prefix

    def _made_prefix(self, voice: CodeVoice) -> _VoicePrefix:
        encoder, codes = self._encoder, tuple(voice.codes.tolist())
        before, behind = [START, _escape(self._normalize(voice.transcript)), SPEECH], [END, START]
        if encoder is None:
            return _VoicePrefix((), "".join([*before, *map(code_text, codes), *behind]), codes)
        if max(codes) >= encoder.codes:
            raise PromptError(f"The model has no tokens beyond {encoder.codes - 1}; the voice is of another.")
        spoken = tuple(encoder.first_code + code for code in codes)
        return _VoicePrefix((*self._ids(before), *spoken, *self._ids(behind)), "", (*codes, encoder.codes))

    def _prompt(self, before: _VoicePrefix, text: str) -> Prompt:
        if self._encoder is None:
            return Prompt((), f"{before.text}{text}{SPEECH}", seen=before.seen)
        return Prompt((*before.ids, *self._ids([text, SPEECH])), seen=before.seen)

    def _ids(self, parts: Sequence[str]) -> tuple[int, ...]:
        """The ids, encoded part by part, since control tokens separate the parts."""
        return () if self._encoder is None else tuple(each for part in parts for each in self._encoder.encode(part))


def _escape(text: str) -> str:
    """Break up whatever a tokenizer could take for a control token."""
    return text.replace("<|", "< |")
