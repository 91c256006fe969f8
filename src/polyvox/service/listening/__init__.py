"""Listening: recordings in, transcripts out."""
