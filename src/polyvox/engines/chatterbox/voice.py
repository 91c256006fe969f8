"""A voice: what T3 and S3Gen keep of a recording, from a caller or from the model's makers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from polyvox.bundles.weights import read_plain
from polyvox.engines.chatterbox.speech_tokens import SPEECH_TOKENS, T3Conditions
from polyvox.engines.kit.checks import check_engine
from polyvox.errors import BundleError
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN
from polyvox.types import PreparedVoice

_MEL_BINS, _SPEAKER = 80, 192
_MOST_TOKENS = 750
"""Of a voice that comes with a model: half a minute."""


@dataclass(frozen=True, slots=True, eq=False)
class ChatterboxVoice:
    """T3's speaker [256] and first speech tokens, and S3Gen's tokens [n], mel [80, 2 n] and speaker [192]."""

    speaker: npt.NDArray[np.float32]
    prompt_tokens: npt.NDArray[np.int32]
    tokens: npt.NDArray[np.int32]
    mel: npt.NDArray[np.float32]
    embedding: npt.NDArray[np.float32]

    @classmethod
    def unpack(cls, voice: PreparedVoice, engine: str) -> "ChatterboxVoice":
        check_engine(voice, engine)
        arrays = voice.arrays
        return cls(
            arrays["speaker"].astype(np.float32),
            arrays["prompt_tokens"].astype(np.int32),
            arrays["tokens"].astype(np.int32),
            arrays["mel"].astype(np.float32),
            arrays["embedding"].astype(np.float32),
        )

    def pack(self, engine: str, digest: str) -> PreparedVoice:
        """The arrays that S3Gen's decoder reads have the names that it knows from CosyVoice."""
        return PreparedVoice(
            engine,
            digest,
            {
                "speaker": self.speaker,
                "prompt_tokens": self.prompt_tokens,
                "tokens": self.tokens,
                "mel": self.mel,
                "embedding": self.embedding,
            },
        )

    def conditions(self, exaggeration: float) -> T3Conditions:
        return T3Conditions(self.speaker, tuple(self.prompt_tokens.tolist()), exaggeration)


def read_conditions(path: Path, speaker: int, prompt_tokens: int) -> ChatterboxVoice:
    """The voice in a published `conds.pt`, whose T3 has a speaker of this width and so many tokens at the most."""
    content = read_plain(path)
    try:
        t3, gen = _part(content, "t3"), _part(content, "gen")
        tokens = _ids(gen, "prompt_token", _MOST_TOKENS)
        mel = _floats(gen, "prompt_feat", (None, _MEL_BINS)).T[:, : FRAMES_PER_TOKEN * len(tokens)]
        tokens = tokens[: mel.shape[1] // FRAMES_PER_TOKEN]
        return ChatterboxVoice(
            _floats(t3, "speaker_emb", (speaker,)),
            _ids(t3, "cond_prompt_speech_tokens", prompt_tokens),
            tokens,
            np.ascontiguousarray(mel[:, : FRAMES_PER_TOKEN * len(tokens)]),
            _floats(gen, "embedding", (_SPEAKER,)),
        )
    except ValueError as error:
        raise BundleError(f"{path.name} is not a voice of this model: {error}; fetch it again.") from error


def _part(content: object, name: str) -> Mapping[str, Any]:
    part = content.get(name) if isinstance(content, Mapping) else None
    if not isinstance(part, Mapping):
        raise ValueError(f"it has no {name}")
    return part


def _tensor(part: Mapping[str, Any], name: str) -> Tensor:
    """The tensor of a batch of one."""
    found = part.get(name)
    if not isinstance(found, Tensor) or found.dim() < 2 or len(found) != 1:
        raise ValueError(f"{name} is no tensor of one row")
    return found[0].detach()


def _ids(part: Mapping[str, Any], name: str, most: int) -> npt.NDArray[np.int32]:
    found = _tensor(part, name)
    if found.dim() != 1 or found.is_floating_point() or not 0 < len(found) <= most:
        raise ValueError(f"{name} has no {most} speech tokens or fewer")
    if int(found.min()) < 0 or int(found.max()) >= SPEECH_TOKENS:
        raise ValueError(f"{name} holds what is no speech token")
    return found.numpy().astype(np.int32)


def _floats(part: Mapping[str, Any], name: str, shape: tuple[int | None, ...]) -> npt.NDArray[np.float32]:
    found = _tensor(part, name)
    fits = found.dim() == len(shape) and all(
        want in (None, side) for want, side in zip(shape, found.shape, strict=True)
    )
    if not fits or not found.is_floating_point() or not bool(found.isfinite().all()):
        raise ValueError(f"{name} has another shape, or values that are no numbers")
    return found.float().numpy()
