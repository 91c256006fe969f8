"""Polyvox's own socket: text by fragments in, audio by chunks out, many contexts at once."""
