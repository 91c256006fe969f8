"""Names that usage is counted under beside those of keys; no key may have one of them."""

ANONYMOUS = "anonymous"
"""Callers without a key, all together."""
OTHERS = "other"
"""The keys beyond the most that metrics tell apart."""
