"""The contract between T3, which generates speech tokens from text, and S3Gen, which turns them into samples."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from polyvox.runtime.tokens import TokenStream

SPEECH_TOKENS = 6561
"""Ids of speech: the only ones that a stream carries."""
TOKEN_RATE = 25
"""Speech tokens of a second."""
_SPARE_TOKENS = 3 * TOKEN_RATE
"""Besides those of the text: pauses, breath and laughter."""
SILENT_TAIL = (4299, 4299, 4299)
"""Tokens that Turbo and Nano need behind the last one; they are not part of a stream."""


@dataclass(frozen=True, slots=True, eq=False)
class T3Conditions:
    """The voice as T3 hears it.

    `speaker_embedding` [256] is the voice encoder's; `prompt_tokens` are the recording's first 150 speech tokens (375
    for Turbo and Nano). Turbo and Nano know no exaggeration.
    """

    speaker_embedding: NDArray[np.float32]
    prompt_tokens: tuple[int, ...]
    exaggeration: float = 0.5


@dataclass(frozen=True, slots=True)
class T3Sampling:
    """The choice of the next token. Turbo and Nano use neither `min_p` nor `cfg_weight`, the others no `top_k`."""

    temperature: float = 0.8
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.05
    repetition_penalty: float = 1.2
    cfg_weight: float = 0.5
    max_tokens: int = 1000
    min_tokens: int = 0
    """Before so many, speech does not end."""
    tokens_per_id: int = 12
    """Most speech tokens for each id of the text, which is a letter or a few: half a second."""

    def within(self, text_ids: int) -> "T3Sampling":
        """The same for a text of so many ids: speech that does not find its end is cut where no speaker would be."""
        return replace(self, max_tokens=min(self.max_tokens, _SPARE_TOKENS + self.tokens_per_id * text_ids))


TURBO_SAMPLING = T3Sampling(top_k=1000, top_p=0.95, min_p=0.0, cfg_weight=0.0, tokens_per_id=30)
"""The makers' choice for Turbo and Nano, whose ids may be words; the defaults above are that for the other models."""


class SpeechTokens(Protocol):
    """T3 on a scheduler."""

    def speak_tokens(
        self, text_ids: Sequence[int], conditions: T3Conditions, sampling: T3Sampling, seed: int
    ) -> AbstractAsyncContextManager[TokenStream]:
        """The speech tokens of a text while the block lasts; leaving it ends the sequence and frees its slot.

        `text_ids` are the tokenizer's, without a frame. The stream is read in lists of any length
        (`stream.read(at_least)`), has neither start nor stop token, and is the same whatever runs beside it.
        """

    async def close(self) -> None:
        """Fail the sequences that are still running."""
