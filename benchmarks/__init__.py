"""Benchmarks and trials that run from a checkout and are not part of the wheel: `python -m benchmarks.NAME --help`."""
