"""The gRPC doors: CosyVoice's service for its own clients, and one of ours for text that is still being written."""
