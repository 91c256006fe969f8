"""Abbreviations, acronyms, and the spellings of chat: cut, drawn out, doubled by a figure."""
