"""CosyVoice: language model, and flow matching with a DiT or U-Net estimator."""
