"""Code, formulas and signs."""
