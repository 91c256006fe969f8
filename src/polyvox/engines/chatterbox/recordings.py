"""Features of a reference recording: what T3 and S3Gen hear in it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from polyvox.audio.features import kaldi_fbank
from polyvox.audio.loudness import LoudnessMeter
from polyvox.audio.resample import resampled
from polyvox.engines.chatterbox.sampling import TOKEN_RATE
from polyvox.engines.chatterbox.voice import ChatterboxVoice
from polyvox.engines.cosyvoice.features import MEL_24K, WHISPER_RATE, mel_spectrogram, sinc_resampled, whisper_log_mel
from polyvox.errors import PromptError
from polyvox.models.chatterbox.s3gen import S3Gen
from polyvox.models.chatterbox.voice_encoder import VoiceEncoder
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN
from polyvox.types import Pcm, VoicePrompt

Tokens = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

LEAST_SECONDS, TURBO_LEAST_SECONDS, MOST_SECONDS = 0.5, 5.0, 30.0
MEL_FMAX = 8_000.0
_DECODER_SECONDS = 10
"""Of a recording, for S3Gen; T3's network says itself how many tokens it takes."""
_TURBO_LUFS = -27.0
_STANDARD_GATE = -70.0


def check_recording(prompt: VoicePrompt, field: str, *, turbo: bool = False) -> None:
    """Refuse a recording that is too long or too short, before any work."""
    if prompt.pcm.ndim != 1 or not np.isfinite(prompt.pcm).all():
        raise PromptError("The recording must be mono and of finite samples; record it again.", field=field)
    seconds = len(prompt.pcm) / prompt.sample_rate
    if seconds > MOST_SECONDS:
        raise PromptError(
            f"The recording has {seconds:.1f} seconds; {MOST_SECONDS:g} are the most. Cut it.", field=field
        )
    if turbo and seconds <= TURBO_LEAST_SECONDS:
        raise PromptError(
            f"The recording has {seconds:.1f} seconds; this model needs more than {TURBO_LEAST_SECONDS:g}.",
            field=field,
        )
    if seconds < LEAST_SECONDS:
        raise PromptError("The recording is too short to hear a voice in it; send a second or more.", field=field)


def loudness_gain(pcm: Pcm, rate: int, target: float = _TURBO_LUFS) -> float:
    """The factor that brings a recording to a loudness (BS.1770, integrated); 1 for silence."""
    meter = LoudnessMeter(rate, gate=_STANDARD_GATE)
    for start in range(0, len(pcm) - meter.block + 1, meter.block):
        meter.add(pcm[start : start + meter.block, None].astype(np.float64))
    return 1.0 if meter.loudness is None else float(10.0 ** ((target - meter.loudness) / 20))


@dataclass(frozen=True, slots=True)
class RecordingFeatures:
    """The networks that hear a recording. Turbo and Nano want it at a set loudness."""

    s3gen: S3Gen
    voice_encoder: VoiceEncoder
    prompt_tokens: int
    """Speech tokens of a voice that T3 takes."""
    turbo: bool = False

    @torch.inference_mode()
    def voice(self, prompt: VoicePrompt) -> ChatterboxVoice:
        """The voice of a checked recording."""
        pcm = resampled(prompt.pcm, prompt.sample_rate, MEL_24K.rate)
        if self.turbo:
            pcm = pcm * np.float32(loudness_gain(pcm, MEL_24K.rate))
        low = resampled(pcm, MEL_24K.rate, WHISPER_RATE)
        seconds = self.prompt_tokens // TOKEN_RATE
        heard = low[: seconds * WHISPER_RATE]
        tokens, mel, embedding = self._decoder_features(pcm[: _DECODER_SECONDS * MEL_24K.rate])
        return ChatterboxVoice(
            self.voice_encoder.embed(self._tensor(low)).float().cpu().numpy(),
            self._tokens(heard)[: self.prompt_tokens],
            tokens,
            mel,
            embedding,
        )

    @torch.inference_mode()
    def speech_tokens(self, recording: VoicePrompt) -> list[int]:
        """The speech tokens of a recording that is to be converted."""
        pcm = resampled(recording.pcm, recording.sample_rate, WHISPER_RATE)
        return [int(token) for token in self._tokens(pcm)]

    def _decoder_features(self, pcm: Pcm) -> tuple[Tokens, Floats, Floats]:
        """S3Gen's tokens [n], mel [80, 2 n] and speaker, from a version at 16 kHz by another filter, as in training."""
        low = sinc_resampled(pcm, MEL_24K.rate, WHISPER_RATE)
        mel, tokens = mel_spectrogram(pcm, MEL_24K, MEL_FMAX), self._tokens(low)
        count = min(len(tokens), mel.shape[1] // FRAMES_PER_TOKEN)
        bank = kaldi_fbank(low, WHISPER_RATE)
        embedding = self.s3gen.speaker_encoder(self._tensor(bank - bank.mean(axis=0))[None])[0]
        return (
            tokens[:count],
            np.ascontiguousarray(mel[:, : FRAMES_PER_TOKEN * count]),
            embedding.float().cpu().numpy(),
        )

    def _tokens(self, pcm: Pcm) -> Tokens:
        tokens: torch.Tensor = self.s3gen.tokenizer(self._tensor(whisper_log_mel(pcm)))
        return np.asarray(tokens.int().cpu().numpy(), np.int32)

    def _tensor(self, array: Floats) -> torch.Tensor:
        weight = self.s3gen.tokenizer.project_down.weight
        return torch.from_numpy(np.ascontiguousarray(array, np.float32)).to(weight.device)
