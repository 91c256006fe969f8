"""Features of a reference recording: speech tokens, mel spectrogram and speaker embedding."""

import numpy as np
import numpy.typing as npt

from polyvox.audio.features import kaldi_fbank
from polyvox.engines.cosyvoice.bundle import CosyVoiceBundle
from polyvox.engines.cosyvoice.features import (
    MEL_22K,
    MEL_24K,
    WHISPER_RATE,
    mel_spectrogram,
    sinc_resampled,
    whisper_log_mel,
)
from polyvox.errors import BundleError, PromptError
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN
from polyvox.runtime.executors.ort import open_graph
from polyvox.types import Pcm, VoicePrompt

SHORTEST_SECONDS, LONGEST_SECONDS = 0.5, 30.0


class PromptFeatureExtractor:
    """Speech tokenizer and speaker network, in ONNX Runtime; several threads may use it at once."""

    def __init__(self, bundle: CosyVoiceBundle, threads: int) -> None:
        self._speaker = open_graph(bundle.speaker_network, threads)
        self._tokenizer = open_graph(bundle.speech_tokenizer, threads)
        if len(self._speaker.inputs) != 1 or len(self._tokenizer.inputs) != 2:
            raise BundleError(f"The ONNX files in {bundle.folder} are not those of CosyVoice; fetch them again.")
        self._version = bundle.version
        self._mel_fmax = bundle.config.mel_fmax
        self._speech_ids = bundle.config.speech_ids

    def extract(self, prompt: VoicePrompt) -> dict[str, npt.NDArray[np.generic]]:
        """Speech tokens [n], mel [80, 2 n] and speaker embedding [192]; version 1's mel is as long as the recording."""
        low = sinc_resampled(prompt.pcm, prompt.sample_rate, WHISPER_RATE)
        tokens, mel = self._tokenize(low), self._mel(prompt, low)
        if self._version > 1:
            count = min(len(tokens), mel.shape[1] // FRAMES_PER_TOKEN)
            tokens, mel = tokens[:count], mel[:, : FRAMES_PER_TOKEN * count]
        return {"tokens": tokens, "mel": np.ascontiguousarray(mel), "embedding": self._embed_speaker(low)}

    def _mel(self, prompt: VoicePrompt, low: Pcm) -> npt.NDArray[np.float32]:
        """Version 1 analyses the recording by way of 16 kHz, as in its training."""
        if self._version == 1:
            return mel_spectrogram(sinc_resampled(low, WHISPER_RATE, MEL_22K.rate), MEL_22K, self._mel_fmax)
        pcm = sinc_resampled(prompt.pcm, prompt.sample_rate, MEL_24K.rate)
        return mel_spectrogram(pcm, MEL_24K, self._mel_fmax)

    def speech_tokens(self, recording: VoicePrompt) -> list[int]:
        """The speech tokens of a recording that is to be converted."""
        pcm = sinc_resampled(recording.pcm, recording.sample_rate, WHISPER_RATE)
        return [int(token) for token in self._tokenize(pcm)]

    def _tokenize(self, pcm: Pcm) -> npt.NDArray[np.int32]:
        """Speech tokens of samples at 16 kHz, 25 per second, and 50 in version 1."""
        features = whisper_log_mel(pcm)[np.newaxis]
        inputs = {
            self._tokenizer.inputs[0]: features,
            self._tokenizer.inputs[1]: np.array([features.shape[2]], np.int32),
        }
        (output,) = self._tokenizer.run(self._tokenizer.outputs[:1], inputs)
        tokens = np.asarray(output).ravel().astype(np.int32)
        if len(tokens) == 0 or tokens.min() < 0 or tokens.max() >= self._speech_ids:
            raise BundleError("The speech tokenizer returned ids that the model does not have; fetch it again.")
        return tokens

    def _embed_speaker(self, pcm: Pcm) -> npt.NDArray[np.float32]:
        """Speaker embedding of samples at 16 kHz."""
        features = kaldi_fbank(pcm, WHISPER_RATE)
        centred = (features - features.mean(axis=0))[np.newaxis]
        (output,) = self._speaker.run(self._speaker.outputs[:1], {self._speaker.inputs[0]: centred})
        return np.asarray(output, np.float32).ravel()


def check_recording(recording: VoicePrompt, field: str) -> None:
    """Raise `PromptError` for a recording that cannot be used, before any work."""
    if recording.pcm.ndim != 1 or not np.isfinite(recording.pcm).all():
        raise PromptError("The recording must be mono and of finite samples; record it again.", field=field)
    if recording.sample_rate < WHISPER_RATE:
        raise PromptError(
            f"The recording has {recording.sample_rate} samples a second; CosyVoice needs {WHISPER_RATE}.", field=field
        )
    seconds = len(recording.pcm) / recording.sample_rate
    if not SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS:
        raise PromptError(
            f"The recording lasts {seconds:.1f} s; CosyVoice takes {SHORTEST_SECONDS:g} to {LONGEST_SECONDS:g} s.",
            field=field,
        )
