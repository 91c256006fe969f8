"""The APIs of CosyVoice's servers: Python, Rust and Ray Serve."""
