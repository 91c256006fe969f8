"""The contract between T3, which generates speech tokens from text, and S3Gen, which turns them into samples."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from polyvox.engines.chatterbox.sampling import T3Sampling
from polyvox.runtime.tokens import TokenStream

SPEECH_TOKENS = 6561
"""Ids of speech: the only ones that a stream carries."""
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
