"""Voices of requests: registered, resolved, prepared from recordings, and fitted to them."""
