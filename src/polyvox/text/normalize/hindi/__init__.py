"""Rules of the Hindi normaliser, by kind of expression."""
