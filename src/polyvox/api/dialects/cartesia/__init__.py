"""Cartesia's speech API: audio as bytes, as events, and over a WebSocket with many contexts."""
