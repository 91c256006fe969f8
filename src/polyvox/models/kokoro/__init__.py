"""Kokoro-82M: ALBERT, text encoder, prosody predictor and iSTFTNet decoder."""
