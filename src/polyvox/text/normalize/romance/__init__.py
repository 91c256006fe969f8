"""Rules that the normalisers of the Romance languages share; each language fills in its words."""
