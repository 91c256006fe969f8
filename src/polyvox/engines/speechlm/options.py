"""Options by which one utterance is sampled and cut into chunks: the request's tuning, else the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from polyvox.engines.kit.seeds import derive_seed
from polyvox.engines.speechlm.settings import SpeechLmSettings
from polyvox.engines.speechlm.tuning import TOKENS_PER_SECOND, SpeechLmTuning
from polyvox.engines.speechlm.windows import WindowPolicy
from polyvox.errors import InvalidRequestError
from polyvox.runtime.tokens import SamplingParams
from polyvox.types import ChunkPolicy

MAX_CONTEXT = 5.0
"""Longest context on either side of a chunk, in lengths of the chunk."""


@dataclass(frozen=True, slots=True)
class SynthesisOptions:
    """`max_tokens` bounds all tokens of the utterance; None leaves each segment its own bound."""

    sampling: SamplingParams
    windows: WindowPolicy
    max_tokens: int | None

    def segment_sampling(self, index: int) -> SamplingParams:
        """Sampling of one segment, with random numbers of its own."""
        seed = self.sampling.seed
        return self.sampling if seed is None else replace(self.sampling, seed=derive_seed(seed, "segment", index))

    @classmethod
    def of(cls, tuning: Mapping[str, float], seed: int | None, settings: SpeechLmSettings) -> "SynthesisOptions":
        """Check a request's tuning; `InvalidRequestError` names the parameter at fault."""
        asked = SpeechLmTuning.of(tuning)
        sampling = SamplingParams(
            temperature=_or(asked.temperature, settings.temperature),
            top_k=asked.top_k or 0,
            top_p=_or(asked.top_p, 1.0),
            repetition_penalty=_or(asked.repetition_penalty, settings.repetition_penalty),
            seed=seed,
        )
        return cls(sampling, _windows(asked, settings), asked.max_tokens)


def _windows(asked: SpeechLmTuning, settings: SpeechLmSettings) -> WindowPolicy:
    """Windows of one size where the caller gave it, else growing ones."""
    if asked.playback_speed is None and asked.playback_overlap_speed is None:
        chunks = ChunkPolicy(_tokens(settings.first_seconds), settings.chunk_growth, _tokens(settings.max_seconds))
        return WindowPolicy(chunks, _tokens(settings.past_seconds), _tokens(settings.ahead_seconds))
    size = _or(asked.playback_speed, settings.playback_speed)
    context = _or(asked.playback_overlap_speed, settings.playback_overlap_speed)
    if context > MAX_CONTEXT * size:
        raise InvalidRequestError(
            f"playback_overlap_speed may be {MAX_CONTEXT:g} times playback_speed at most: {context:g} s would be "
            f"decoded on both sides of every {size:g} s.",
            field="playback_overlap_speed",
        )
    return WindowPolicy.steady(_tokens(size), _tokens(context))


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _tokens(seconds: float) -> int:
    return max(1, int(seconds * TOKENS_PER_SECOND))
