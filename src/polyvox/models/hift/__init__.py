"""HiFT: the harmonic-plus-noise vocoder with an inverse STFT."""
