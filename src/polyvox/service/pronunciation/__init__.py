"""Dictionaries of owners, and texts rewritten by them."""
