"""Sampling of T3: how its next token is chosen, and where speech ends."""

from dataclasses import dataclass, replace

TOKEN_RATE = 25
"""Speech tokens of a second."""
_SPARE_TOKENS = 3 * TOKEN_RATE
"""Besides those of the text: pauses, breath and laughter."""


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
