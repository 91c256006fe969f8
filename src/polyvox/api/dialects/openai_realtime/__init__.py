"""OpenAI's Realtime API without its language model: texts are spoken, and speech is transcribed, on a WebSocket."""
