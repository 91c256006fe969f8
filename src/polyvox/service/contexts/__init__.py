"""Contexts: texts that arrive in fragments, spoken as they come."""
