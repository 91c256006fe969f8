"""Rules of the Malay normaliser, by kind of expression."""
