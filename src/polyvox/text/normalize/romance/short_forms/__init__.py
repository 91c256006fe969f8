"""Abbreviations, acronyms and the letters of chat."""
