"""Kokoro: text encoder, ALBERT, prosody, iSTFTNet decoder."""
