"""The dialects: one module or package for each API that callers already speak."""
