"""Codec language models and their codec."""
