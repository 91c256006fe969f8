"""The audio decoder: speech tokens to samples, by flow and vocoder, for many streams together."""
