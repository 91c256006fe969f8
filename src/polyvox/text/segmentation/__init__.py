"""Text cut into sentences, clauses and segments, whole or while it arrives."""
