"""A voice as the language model has it: the keys and values of its positions."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file

from polyvox.engines.kit.checks import check_engine
from polyvox.errors import BundleError, PromptError
from polyvox.models.pockettts.config import PocketConfig
from polyvox.types import PreparedVoice

MAX_POSITIONS = 384
"""Half a minute of a voice, and the row before it."""
_MAX_BYTES = 512 << 20

Cache = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VoiceState:
    """Keys and values [layers, key heads, positions, head width]; they fit one set of weights only."""

    keys: Cache
    values: Cache

    @property
    def positions(self) -> int:
        return int(self.keys.shape[2])

    @classmethod
    def unpack(cls, voice: PreparedVoice, engine: str, fingerprint: str) -> "VoiceState":
        check_engine(voice, engine)
        if cls.made_for(voice) != fingerprint:
            raise PromptError("This voice was prepared for other weights; register it again.", field="voice")
        return cls(voice.arrays["keys"], voice.arrays["values"])

    @staticmethod
    def made_for(voice: PreparedVoice) -> str:
        """The fingerprint of the weights that a voice was prepared for."""
        return bytes(voice.arrays["weights"]).decode(errors="replace")

    def pack(self, engine: str, digest: str, fingerprint: str) -> PreparedVoice:
        weights = np.frombuffer(fingerprint.encode(), np.uint8)
        return PreparedVoice(engine, digest, {"keys": self.keys, "values": self.values, "weights": weights})


def read_voice(path: Path, config: PocketConfig) -> VoiceState:
    """A published voice state, in its present form or the older one; BundleError says what does not fit."""
    sizes = config.transformer
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise BundleError(f"{path.name} is larger than any voice.")
        tensors = load_file(path)
    except (SafetensorError, OSError, TypeError) as error:
        raise BundleError(f"The voice {path.name} cannot be read ({error}); fetch it again.") from error
    layers = [_layer(tensors, index) for index in range(sizes.layers)]
    positions = layers[0][1]
    shape = (2, 1, sizes.key_heads, sizes.head_width)
    fits = all(
        cache.ndim == 5 and (*cache.shape[:2], *cache.shape[3:]) == shape and length == positions <= cache.shape[2]
        for cache, length in layers
    )
    if not fits or not 0 < positions <= MAX_POSITIONS:
        raise BundleError(f"The voice {path.name} was made for another model; fetch that of this one.")
    both = np.stack([cache[:, 0, :positions] for cache, _ in layers]).astype(np.float32)
    if not np.isfinite(both).all():
        raise BundleError(f"The voice {path.name} holds non-finite values; fetch it again.")
    turned = both.transpose(1, 0, 3, 2, 4)
    return VoiceState(np.ascontiguousarray(turned[0]), np.ascontiguousarray(turned[1]))


def _layer(tensors: Mapping[str, npt.NDArray[np.float32]], index: int) -> tuple[npt.NDArray[np.float32], int]:
    """The cache of a layer and its number of positions, which older files give as the length of a tensor."""
    name = f"transformer.layers.{index}.self_attn/"
    cache, offset, end = (tensors.get(name + part) for part in ("cache", "offset", "current_end"))
    if cache is None:
        raise BundleError("The voice has fewer layers than the model; fetch that of this one.")
    if offset is not None and offset.size == 1:
        return cache, int(offset.reshape(-1)[0])
    return cache, 0 if end is None else len(end)


def fingerprint_of(*weights: npt.NDArray[np.float32]) -> str:
    """A name for a set of weights, from some of them."""
    digest = hashlib.sha256()
    for each in weights:
        digest.update(np.ascontiguousarray(each).tobytes())
    return digest.hexdigest()[:16]
