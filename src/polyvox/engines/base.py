"""The engine contract, and the optional protocols that say what else an engine supports."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from polyvox.runtime.stage import Observer
from polyvox.types import AudioChunk, Capabilities, EngineLocation, PreparedVoice, Utterance, Voice, VoicePrompt
from polyvox.voices.mixing import MixTerm


class Engine(Protocol):
    """A family of models: text and a voice in, audio chunks out.

    An engine is immutable after `start` and shared by all sessions: what belongs to one utterance lives in the
    generator that `speak` returns, and closing that generator frees all of it. No method blocks the event loop.

    Workflow:

    1. The factory of an `EngineSpec` makes the engine from the settings; this loads nothing.
    2. `start` loads weights. From then on, `speak` and `prepare` may be called by many sessions at once.
    3. For each request `check` refuses what cannot be spoken, `prepare` makes a voice of a recording where there is
       one, and `speak` yields the audio.
    4. `close` releases everything.

    A class with these members is an engine; there is nothing to inherit. A whole one, which hums for each word:

        class HumEngine:
            name = "hum"
            capabilities = Capabilities(languages=frozenset({"en-us"}), sample_rate=24_000)
            voices = (Voice(id="low", name="Low", language="en-us"),)

            async def start(self) -> None:
                time = np.arange(6_000, dtype=np.float32) / 24_000
                self._hum = (0.3 * np.sin(2 * np.pi * 220 * time)).astype(np.float32)

            async def close(self) -> None:
                del self._hum

            def check(self, utterance: Utterance) -> None:
                if utterance.voice != "low":
                    raise UnknownVoiceError("Hum has the voice low.", field="voice")
                if not utterance.text.strip():
                    raise TextError("There is no word in the text.", field="input")

            async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
                raise UnavailableError("Hum does not clone voices.")

            async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
                ledger = ChunkLedger(24_000, policy=None)
                for word in utterance.text.split():
                    yield ledger.chunk(self._hum, text=word)

        HUM = EngineSpec(
            family="hum",
            title="Hum",
            models={"hum": lambda settings: HumEngine()},
            languages={"hum": frozenset({"en-us"})},
        )

    An engine with a network runs it on a `DeviceExecutor`, through a `Stage` that batches all sessions.
    `examples/engine_plugin` adds settings, word timings and speed, in a package of its own.
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
class SupportsPhonemes(Protocol):
    """Show the phonemes and token ids of a text."""

    def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
        """The phonemes and the token ids the model would see, without the padding at both ends."""


@runtime_checkable
class SupportsMixing(Protocol):
    """Blend voices, which are vectors, by a mix expression."""

    def mixed_voice(self, expression: str) -> npt.NDArray[np.float32]:
        """The blend named by a mix expression, in the engine's own layout."""


@runtime_checkable
class SupportsStyle(Protocol):
    """Speak with a style vector that was fitted to a recording."""

    def voice_from_style(self, mix: Sequence[MixTerm], offset: npt.NDArray[np.float32], language: str) -> PreparedVoice:
        """A blend of the engine's voices plus an offset; `language` is the default of utterances that name none.

        The offset may be a whole voice pack, to which an empty blend adds nothing.
        """


@runtime_checkable
class SharesStyles(Protocol):
    """Speak with styles that were fitted for another model."""

    @property
    def style_model(self) -> str:
        """The name of that model."""


@runtime_checkable
class SupportsCodes(Protocol):
    """Take a voice as codec tokens, without its recording."""

    def voice_from_codes(self, codes: Sequence[int], transcript: str) -> PreparedVoice:
        """The voice; `PromptError` where a token is outside the codec's codebook."""


@runtime_checkable
class SupportsPreparedCheck(Protocol):
    """Tell voices that fit from those that were prepared before other weights were installed."""

    def fits(self, voice: PreparedVoice) -> bool:
        """True if it can be spoken with; one that cannot is prepared again."""


@runtime_checkable
class SupportsStreamingText(Protocol):
    """Speak while the text is still arriving."""

    def speak_stream(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        """Speak the concatenated pieces as one text; the utterance's own text is empty."""


@runtime_checkable
class SupportsConversion(Protocol):
    """Convert a recording to another voice."""

    def convert(self, source: VoicePrompt, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        """The recording in the utterance's voice; the utterance's text is empty."""


@runtime_checkable
class SupportsDialogue(Protocol):
    """Speak a dialogue of two voices in one utterance, where `capabilities.dialogue` is set."""

    def dialogue_voice(self, first: PreparedVoice, second: PreparedVoice) -> PreparedVoice:
        """Both as one voice: in a text, `[S1]` switches to the first, `[S2]` to the second."""


@runtime_checkable
class SupportsWarning(Protocol):
    """Report that the engine speaks, but not as its settings ask."""

    @property
    def warning(self) -> str:
        """The problem in one sentence; empty where there is none."""


@runtime_checkable
class SupportsObstacle(Protocol):
    """Report that the engine runs and cannot speak now, as when a server that it needs does not answer."""

    @property
    def obstacle(self) -> str:
        """The reason in one sentence, with the remedy; empty where it can speak."""


@runtime_checkable
class SupportsWarmUp(Protocol):
    """Load ahead of time what the first text in some language would wait for, such as a dictionary."""

    def warm_up(self) -> None:
        """Load it; blocks. What is not installed is left out."""


@runtime_checkable
class SupportsFingerprint(Protocol):
    """Tell models apart whose files the server does not know, so that their speech can be cached."""

    @property
    def fingerprint(self) -> str:
        """The same for the same weights and voices, and for nothing else."""


@runtime_checkable
class SupportsLocation(Protocol):
    """Tell where the engine runs."""

    @property
    def location(self) -> EngineLocation:
        """Of the networks as they were loaded; meaningful once the engine has started."""


@runtime_checkable
class SupportsPace(Protocol):
    """Tell how much audio all streams share, where they take it from each other."""

    @property
    def pace(self) -> float | None:
        """Seconds of audio per second, measured while it started; None where streams are batched."""


@runtime_checkable
class SupportsObserver(Protocol):
    """Report the cost of every batch."""

    def observe(self, observer: Observer) -> None:
        """Report every batch to `observer`; called once, before `start`."""
