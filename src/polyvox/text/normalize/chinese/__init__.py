"""Rules of the Chinese normaliser, by kind of expression."""
