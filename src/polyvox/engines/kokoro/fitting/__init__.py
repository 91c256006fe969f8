"""Fit one of Kokoro's voices to a recording, by gradients through Kokoro, a speaker encoder and a MOS predictor."""
