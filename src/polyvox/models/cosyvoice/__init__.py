"""CosyVoice: language model, flow matching with its DiT or U-Net estimator."""
