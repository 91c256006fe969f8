"""NeuCodec's encoder on its device: a recording to codec tokens, by the network or by an exported ONNX graph."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import structlog
import torch

from polyvox.audio.resample import resampled
from polyvox.engines.speechlm.prompt_builder import MAX_VOICE_TOKENS, CodeVoice, check_transcript
from polyvox.engines.speechlm.tuning import TOKENS_PER_SECOND
from polyvox.errors import BundleError, PromptError, UnavailableError
from polyvox.models.speechlm.neucodec_encoder import SAMPLE_RATE, NeuCodecEncoder
from polyvox.runtime.executors.ort import OrtGraph, share_of_cores
from polyvox.types import Pcm, VoicePrompt

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

INPUT, OUTPUT = "audio", "codes"
_FIELD = "reference_audio"
_TOKEN_SAMPLES = SAMPLE_RATE // TOKENS_PER_SECOND
_MAX_SAMPLES = MAX_VOICE_TOKENS * _TOKEN_SAMPLES


class CodecEncoder(Protocol):
    """Encodes one recording at a time."""

    def encode(self, pcm: Pcm) -> npt.NDArray[np.int64]:
        """Samples at 16 kHz to tokens. Called on one thread only."""


class OnnxEncoder:
    """An ONNX graph that takes `audio`, float32 [1, 1, samples] at 16 kHz, and gives `codes`, [1, 1, tokens]."""

    def __init__(self, path: Path) -> None:
        self._graph = OrtGraph(path, share_of_cores(1))
        if OUTPUT not in self._graph.outputs:
            raise BundleError(f"{path} has no output '{OUTPUT}': it is not an encoder of NeuCodec.")

    def encode(self, pcm: Pcm) -> npt.NDArray[np.int64]:
        (codes,) = self._graph.run((OUTPUT,), {INPUT: pcm[None, None].astype(np.float32)})
        return codes.reshape(-1).astype(np.int64)


class NetworkEncoder:
    """The network, loaded with the first recording: a server that clones no voice has no use for its 1.8 GB."""

    def __init__(self, load: Callable[[], NeuCodecEncoder]) -> None:
        self._load = load
        self._network: NeuCodecEncoder | None = None

    @torch.inference_mode()
    def encode(self, pcm: Pcm) -> npt.NDArray[np.int64]:
        try:
            network = self._loaded()
            with _exact(network.project_in.weight.device):
                codes: npt.NDArray[np.int64] = network.encode(pcm).cpu().numpy()
                return codes
        except torch.OutOfMemoryError as error:
            log.warning("The GPU has too little memory left for NeuCodec's encoder; lower speechlm_cache_bytes.")
            raise UnavailableError(
                "The server has too little memory for this recording now; send a shorter one, or try again later."
            ) from error

    def _loaded(self) -> NeuCodecEncoder:
        if self._network is None:
            self._network = self._load()
            log.info("loaded NeuCodec's encoder", device=str(self._network.project_in.weight.device))
        return self._network


def encode_prompts(encoder: CodecEncoder, prompts: Sequence[VoicePrompt]) -> list[CodeVoice]:
    """The voices of recordings, one after the other: the encoder cannot batch lengths without changing tokens."""
    return [_encoded(encoder, prompt) for prompt in prompts]


def check_prompt(prompt: VoicePrompt) -> None:
    """Refuse a recording without its words, or too long or too short, before any work; PromptError says which."""
    check_transcript(prompt.transcript)
    samples = len(prompt.pcm) * SAMPLE_RATE // prompt.sample_rate
    if samples >= _MAX_SAMPLES + _TOKEN_SAMPLES:
        seconds, most = samples / SAMPLE_RATE, MAX_VOICE_TOKENS // TOKENS_PER_SECOND
        raise PromptError(f"The recording has {seconds:.1f} seconds; {most} are the most. Cut it.", field=_FIELD)
    if samples < 2 * _TOKEN_SAMPLES:
        raise PromptError("The recording is too short to hear a voice in it; send a second or more.", field=_FIELD)


def _encoded(encoder: CodecEncoder, prompt: VoicePrompt) -> CodeVoice:
    pcm = resampled(prompt.pcm, prompt.sample_rate, SAMPLE_RATE)
    return CodeVoice.of(encoder.encode(pcm), prompt.transcript, _FIELD)


def _exact(device: torch.device) -> AbstractContextManager[None]:
    """On a GPU, the same algorithms in every call, and no TF32 in place of single precision.

    PyTorch's defaults allow neither. They hold for the process, so they are set for a call only.
    """
    if device.type == "cpu":
        return nullcontext()
    flags: AbstractContextManager[None] = torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False)
    return flags
