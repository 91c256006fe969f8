"""Genders and plurals, and short words that agree with their noun."""
