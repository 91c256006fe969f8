"""Rules of the Japanese normaliser, by kind of expression."""
