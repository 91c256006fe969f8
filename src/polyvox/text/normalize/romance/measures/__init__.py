"""Sums, measures, fractions and ranges."""
