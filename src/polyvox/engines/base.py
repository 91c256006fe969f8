"""The contract every family of models fulfils."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from polyvox.runtime.stage import Observer
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Utterance, Voice, VoicePrompt
from polyvox.voices.mixing import MixTerm


class Engine(Protocol):
    """A family of models: text and a voice in, audio chunks out.

    An engine is immutable after `start` and shared by all sessions: what belongs to one utterance lives in the
    generator that `speak` returns, and closing that generator frees all of it. No method blocks the event loop.
    """

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def voices(self) -> Sequence[Voice]: ...

    async def start(self) -> None:
        """Load weights and run one short utterance, so that the first caller pays for neither."""

    async def close(self) -> None:
        """Release weights and threads. Utterances still under way fail."""

    def check(self, utterance: Utterance) -> None:
        """Raise the typed error for whatever can be refused without speaking; cheap."""

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        """Turn a reference recording into a voice of this engine; `UnavailableError` where cloning is absent."""

    def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        """Say it, chunk by chunk, at the engine's own sample rate."""


@runtime_checkable
class Phonemizing(Protocol):
    """An engine that can show how it reads a text."""

    def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
        """The phonemes and the token ids the model would see, without the padding at both ends."""


@runtime_checkable
class Mixing(Protocol):
    """An engine whose voices are vectors that can be blended."""

    def mixed_voice(self, expression: str) -> npt.NDArray[np.float32]:
        """The blend that a mix expression names, in the engine's own layout."""


@runtime_checkable
class Styled(Protocol):
    """An engine whose voices are vectors, and that speaks with one that was fitted to a recording."""

    def styled_voice(self, mix: Sequence[MixTerm], offset: npt.NDArray[np.float32], language: str) -> PreparedVoice:
        """The blend of its own voices with an offset that is added to it, to speak the language unless told."""


@runtime_checkable
class Coded(Protocol):
    """An engine that takes a voice as the tokens of its codec, without its recording."""

    def voice_of_codes(self, codes: Sequence[int], transcript: str) -> PreparedVoice:
        """The voice; `PromptError` where the tokens are none of the codec's."""


@runtime_checkable
class Reading(Protocol):
    """An engine that speaks while its text is still arriving."""

    def read(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        """Say the pieces, put together, as one text; the utterance's own is empty."""


@runtime_checkable
class Converting(Protocol):
    """An engine that says what a recording says, in another voice."""

    def convert(self, source: VoicePrompt, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        """The recording as the utterance's voice would have spoken it; the utterance's text is empty."""


@runtime_checkable
class Duetting(Protocol):
    """An engine that speaks a dialogue of two voices in one go, if its capabilities say so."""

    def duet(self, first: PreparedVoice, second: PreparedVoice) -> PreparedVoice:
        """Both as one voice: in a text, the first says what is behind `[S1]`, the second what is behind `[S2]`."""


@runtime_checkable
class Cautioned(Protocol):
    """An engine that speaks, but not as its settings wish."""

    @property
    def warning(self) -> str:
        """What is amiss, in one sentence; empty where nothing is."""


@runtime_checkable
class Observed(Protocol):
    """An engine that reports what its batches cost."""

    def observe(self, observer: Observer) -> None:
        """Report every batch to `observer`; called once, before `start`."""
