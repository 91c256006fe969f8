"""Kokoro-FastAPI's additions to OpenAI's API."""
