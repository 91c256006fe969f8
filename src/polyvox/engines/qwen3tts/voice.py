"""A cloned voice: the vector of its speaker and, where its words are known, the frames of its recording."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from polyvox.audio.resample import resampled
from polyvox.engines.kit.checks import check_engine
from polyvox.engines.qwen3tts.bundle import Qwen3TtsNetworks
from polyvox.errors import NotServedError
from polyvox.models.qwen3tts.speaker_encoder import RATE
from polyvox.types import PreparedVoice, VoicePrompt


@dataclass(frozen=True, slots=True)
class ClonedVoice:
    """`frames` [n, groups] is empty where the transcript is."""

    speaker: npt.NDArray[np.float32]
    frames: npt.NDArray[np.int32]
    transcript: str
    digest: str

    @classmethod
    def unpack(cls, voice: PreparedVoice, engine: str) -> "ClonedVoice":
        check_engine(voice, engine)
        arrays = voice.arrays
        words = bytes(arrays["transcript"]).decode()
        return cls(arrays["speaker"].astype(np.float32), arrays["frames"].astype(np.int32), words, voice.digest)

    def pack(self, engine: str) -> PreparedVoice:
        words = np.frombuffer(self.transcript.encode(), np.uint8)
        return PreparedVoice(engine, self.digest, {"speaker": self.speaker, "frames": self.frames, "transcript": words})


@torch.inference_mode()
def clone(networks: Qwen3TtsNetworks, prompt: VoicePrompt) -> ClonedVoice:
    """Hear a recording: its speaker and, where it has a transcript, its frames."""
    if networks.speaker_encoder is None or networks.codec_encoder is None:
        raise NotServedError("This model does not clone voices; the models qwen3tts-0.6b and qwen3tts-1.7b do.")
    samples = torch.from_numpy(resampled(prompt.pcm, prompt.sample_rate, RATE)).to(networks.device)
    speaker = networks.speaker_encoder(samples[None])[0].float().cpu().numpy()
    frames = np.zeros((0, networks.config.groups), np.int32)
    if prompt.transcript.strip():
        frames = networks.codec_encoder(samples).int().cpu().numpy()
    return ClonedVoice(speaker, frames, prompt.transcript.strip(), prompt.digest)
