"""Kinds of request: what a session can be asked to speak, and how each becomes utterances of an engine."""
