"""How one utterance is to be sampled and cut: what its caller asked for, else what the settings say."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from polyvox.engines.speechlm.prompts import TOKENS_PER_SECOND
from polyvox.engines.speechlm.settings import SpeechLmSettings
from polyvox.engines.speechlm.windows import WindowPolicy
from polyvox.errors import InvalidRequestError
from polyvox.runtime.tokens import Sampling
from polyvox.types import ChunkPolicy

MOST_TOKENS = 65_536
MOST_CONTEXT = 5.0
"""How many times as long as a chunk its context may be on either side."""

_BOUNDS: Mapping[str, tuple[float, float]] = {
    "temperature": (0.0, 2.0),
    "top_p": (0.01, 1.0),
    "top_k": (0, MOST_TOKENS),
    "repetition_penalty": (0.5, 2.0),
    "max_tokens": (1, MOST_TOKENS),
    "playback_speed": (1 / TOKENS_PER_SECOND, 60.0),
    "playback_overlap_speed": (0.0, 10.0),
}


@dataclass(frozen=True, slots=True)
class Manner:
    """`most` bounds all tokens of the utterance; None leaves each stretch its own bound."""

    sampling: Sampling
    windows: WindowPolicy
    most: int | None

    def sampling_of(self, piece: int) -> Sampling:
        """Each piece of an utterance draws numbers of its own."""
        seed = self.sampling.seed
        return self.sampling if seed is None else replace(self.sampling, seed=(seed + piece) % 2**63)

    @classmethod
    def of(cls, tuning: Mapping[str, float], seed: int | None, settings: SpeechLmSettings) -> "Manner":
        """What a caller asked for, checked."""
        for name, (low, high) in _BOUNDS.items():
            value = tuning.get(name)
            if value is not None and not (math.isfinite(value) and low <= value <= high):
                raise InvalidRequestError(f"{name} must lie between {low:g} and {high:g}, not {value:g}.", field=name)
        sampling = Sampling(
            temperature=tuning.get("temperature", settings.temperature),
            top_k=int(tuning.get("top_k", 0)),
            top_p=tuning.get("top_p", 1.0),
            repetition_penalty=tuning.get("repetition_penalty", settings.repetition_penalty),
            seed=seed,
        )
        most = tuning.get("max_tokens")
        return cls(sampling, _windows(tuning, settings), None if most is None else int(most))


def _windows(tuning: Mapping[str, float], settings: SpeechLmSettings) -> WindowPolicy:
    """Windows of one size where the caller gave it, else such that grow."""
    if "playback_speed" not in tuning and "playback_overlap_speed" not in tuning:
        chunks = ChunkPolicy(
            _tokens(settings.first_seconds),
            settings.chunk_growth,
            _tokens(settings.max_seconds),
        )
        return WindowPolicy(
            chunks,
            _tokens(settings.past_seconds),
            _tokens(settings.ahead_seconds),
        )
    size = tuning.get("playback_speed", settings.playback_speed)
    context = tuning.get("playback_overlap_speed", settings.playback_overlap_speed)
    if context > MOST_CONTEXT * size:
        raise InvalidRequestError(
            f"playback_overlap_speed may be {MOST_CONTEXT:g} times playback_speed at most: {context:g} s would be "
            f"decoded on both sides of every {size:g} s.",
            field="playback_overlap_speed",
        )
    return WindowPolicy.steady(_tokens(size), _tokens(context))


def _tokens(seconds: float) -> int:
    return max(1, int(seconds * TOKENS_PER_SECOND))
