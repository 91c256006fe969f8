"""A cloned voice: what its recording says, in tokens, and how it sounds, as a mel."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyvox.audio.features import Features
from polyvox.engines.zipvoice.mel import BINS, FLOOR, FRAMES_PER_SECOND, TARGET_RMS, mel_spectrogram
from polyvox.errors import InvalidRequestError, UnknownVoiceError
from polyvox.types import Pcm, PreparedVoice

_SILENT = math.log(FLOOR)


@dataclass(frozen=True, slots=True, eq=False)
class ClonedVoice:
    """A recording as it was made: tokens, mel [frames, bins of all channels], and its loudness."""

    tokens: tuple[int, ...]
    mel: Features
    rms: float

    @classmethod
    def of(cls, tokens: Sequence[int], pcm: Pcm) -> "ClonedVoice":
        """The voice of a recording that was trimmed and has the model's rate."""
        rms = float(np.sqrt(np.mean(np.square(pcm, dtype=np.float64))))
        return cls(tuple(tokens), mel_spectrogram(pcm), rms)

    @classmethod
    def unpacked(cls, prepared: PreparedVoice, engine: str, bins: int) -> "ClonedVoice":
        """The voice as an engine prepared it earlier."""
        if prepared.engine != engine:
            raise InvalidRequestError(
                f"The voice was prepared for the model {prepared.engine!r}; prepare it for {engine!r}.", field="voice"
            )
        try:
            tokens, mel, rms = (prepared.arrays[name] for name in ("tokens", "mel", "rms"))
        except KeyError as error:
            raise UnknownVoiceError(f"The prepared voice lacks its {error}; prepare it again.", field="voice") from None
        if tokens.ndim != 1 or not len(tokens) or mel.ndim != 2 or not len(mel) or mel.shape[1] not in (BINS, bins):
            raise UnknownVoiceError("The prepared voice is damaged; prepare it again.", field="voice")
        return cls(tuple(int(token) for token in tokens), mel.astype(np.float32), float(rms.reshape(-1)[0]))

    def packed(self, engine: str, digest: str) -> PreparedVoice:
        """As plain arrays, to be kept."""
        arrays = {
            "tokens": np.array(self.tokens, np.int32),
            "mel": self.mel,
            "rms": np.array([self.rms], np.float32),
        }
        return PreparedVoice(engine, digest, arrays)

    @property
    def seconds(self) -> float:
        return len(self.mel) / FRAMES_PER_SECOND

    @property
    def token_seconds(self) -> float:
        """How long the speaker takes for a token."""
        return self.seconds / len(self.tokens)

    def at(self, target_rms: float) -> tuple["ClonedVoice", float]:
        """The voice raised to a loudness if it is softer, and the factor: what it says is to be lowered by it again."""
        gain = max(1.0, target_rms / self.rms) if self.rms > 0 else 1.0
        # Silence stays silent: the floor of the logarithm is no sound that could be raised.
        raised = np.where(self.mel <= _SILENT + 1e-6, self.mel, self.mel + np.float32(math.log(gain)))
        return replace(self, mel=raised.astype(np.float32), rms=self.rms * gain), gain

    def on_channels(self, channels: int, channel: int) -> "ClonedVoice":
        """The voice on one of several channels, silence on the others; as it is where it has several already."""
        if self.mel.shape[1] == channels * BINS:
            return self
        mel = np.full((len(self.mel), channels * BINS), _SILENT, np.float32)
        mel[:, channel * BINS : (channel + 1) * BINS] = self.mel
        return replace(self, mel=mel)


def duet(first: ClonedVoice, second: ClonedVoice, tags: tuple[int, int], channels: int) -> ClonedVoice:
    """Two voices as one prompt of a dialogue: each says its recording in turn, equally loud, on its own channel.

    Who speaks in a recording is settled by that, whatever tags its transcript has.
    """
    voices = [voice.at(TARGET_RMS)[0].on_channels(channels, index) for index, voice in enumerate((first, second))]
    words = [[token for token in voice.tokens if token not in tags] for voice in voices]
    tokens = [token for tag, said in zip(tags, words, strict=True) for token in (tag, *said)]
    return ClonedVoice(tuple(tokens), np.concatenate([voice.mel for voice in voices]), TARGET_RMS)


def tagged(tokens: tuple[int, ...], tag: int, tags: tuple[int, int]) -> tuple[int, ...]:
    """Tokens that begin with who says them."""
    return tokens if tokens[0] in tags else (tag, *tokens)
