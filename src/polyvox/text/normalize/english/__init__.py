"""Rules of the English normaliser, by kind of expression."""
