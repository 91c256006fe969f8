"""Addresses, states, airports, flags and directions."""
