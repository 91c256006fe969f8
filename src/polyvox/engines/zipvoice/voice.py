"""The prompt of a cloned voice: the tokens of its transcript and the mel of its recording."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyvox.audio.features import Features
from polyvox.audio.resample import resampled
from polyvox.audio.silence import with_edges_cut, with_pauses_cut
from polyvox.engines.zipvoice.mel import BINS, FLOOR, FRAMES_PER_SECOND, SAMPLE_RATE, mel_spectrogram
from polyvox.engines.zipvoice.variants import TARGET_RMS
from polyvox.errors import InvalidRequestError, PromptError, UnknownVoiceError
from polyvox.types import Pcm, PreparedVoice

TAIL_SECONDS = 0.2
"""Silence behind the prompt, so that its last sound does not run into the generated speech."""
_SILENT = math.log(FLOOR)


def trim_recording(pcm: Pcm, sample_rate: int) -> Pcm:
    """A recording at the model's rate, without long pauses and silent edges, and with its tail of silence."""
    samples = resampled(pcm, sample_rate, SAMPLE_RATE)
    samples = with_edges_cut(with_pauses_cut(samples, SAMPLE_RATE), SAMPLE_RATE)
    if not len(samples):
        raise PromptError("The reference recording holds no sound; record it again, closer.", field="audio")
    return np.concatenate((samples, np.zeros(round(TAIL_SECONDS * SAMPLE_RATE), np.float32)))


@dataclass(frozen=True, slots=True, eq=False)
class ZipVoicePrompt:
    """Transcript tokens, mel [frames, bins of all channels], and the recording's RMS."""

    tokens: tuple[int, ...]
    mel: Features
    rms: float

    @classmethod
    def of(cls, tokens: Sequence[int], pcm: Pcm) -> "ZipVoicePrompt":
        """The prompt made of a trimmed recording at the model's rate."""
        rms = float(np.sqrt(np.mean(np.square(pcm, dtype=np.float64))))
        return cls(tuple(tokens), mel_spectrogram(pcm), rms)

    @classmethod
    def from_prepared(cls, prepared: PreparedVoice, engine: str, bins: int) -> "ZipVoicePrompt":
        """The prompt of a voice that `prepare` returned earlier."""
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

    def to_prepared(self, engine: str, digest: str) -> PreparedVoice:
        """The prompt as plain arrays, to be stored."""
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
        """The speaker's average time for a token."""
        return self.seconds / len(self.tokens)

    def amplify_to(self, target_rms: float) -> tuple["ZipVoicePrompt", float]:
        """The prompt raised to an RMS if it is softer, and the gain: the generated speech is to be divided by it."""
        gain = max(1.0, target_rms / self.rms) if self.rms > 0 else 1.0
        # Silence stays silent: at the floor of the logarithm there is no sound to be raised.
        raised = np.where(self.mel <= _SILENT + 1e-6, self.mel, self.mel + np.float32(math.log(gain)))
        return replace(self, mel=raised.astype(np.float32), rms=self.rms * gain), gain

    def on_channel(self, channel: int, channels: int) -> "ZipVoicePrompt":
        """The prompt on one of several channels, silence on the others; unchanged where it has several already."""
        if self.mel.shape[1] == channels * BINS:
            return self
        mel = np.full((len(self.mel), channels * BINS), _SILENT, np.float32)
        mel[:, channel * BINS : (channel + 1) * BINS] = self.mel
        return replace(self, mel=mel)

    def with_tag(self, tag: int, tags: tuple[int, int]) -> "ZipVoicePrompt":
        """The prompt with a speaker's tag in front of its tokens, unless it begins with one of `tags`."""
        return self if self.tokens[0] in tags else replace(self, tokens=(tag, *self.tokens))


def dialogue_prompt(
    first: ZipVoicePrompt, second: ZipVoicePrompt, tags: tuple[int, int], channels: int
) -> ZipVoicePrompt:
    """Two prompts as the one of a dialogue: one after the other, equally loud, each on its own channel.

    That decides who speaks in a recording; tags in its transcript are dropped.
    """
    prompts = [
        prompt.amplify_to(TARGET_RMS)[0].on_channel(index, channels) for index, prompt in enumerate((first, second))
    ]
    untagged = [[token for token in prompt.tokens if token not in tags] for prompt in prompts]
    tokens = [token for tag, words in zip(tags, untagged, strict=True) for token in (tag, *words)]
    return ZipVoicePrompt(tuple(tokens), np.concatenate([prompt.mel for prompt in prompts]), TARGET_RMS)
