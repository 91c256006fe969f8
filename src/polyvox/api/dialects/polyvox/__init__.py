"""Polyvox's own API, beside the dialects: dialogue, conversion, voices, dictionaries, jobs, usage."""
