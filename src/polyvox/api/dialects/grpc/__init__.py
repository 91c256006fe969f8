"""gRPC: CosyVoice's service for its own clients, and Polyvox's own, which takes text while it is being written."""
