"""OpenAI's Realtime API, as far as it speaks: texts come as messages on a WebSocket, and the sound goes back on it."""
