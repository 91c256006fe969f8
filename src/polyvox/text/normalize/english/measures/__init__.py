"""Measures, weights and sums of money."""
