"""Networks of Pocket TTS: a language model over continuous latents, and the codec that turns latents into samples."""
