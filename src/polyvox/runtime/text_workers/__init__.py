"""Processes that read texts for an engine beside the server's own."""
