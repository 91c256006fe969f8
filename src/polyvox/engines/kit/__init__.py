"""Parts that engines share: chunk progress, player clock, seeds, capture fall-back, tuning, fit protocol."""
