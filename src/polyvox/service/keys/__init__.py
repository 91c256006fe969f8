"""Keys of callers: what each may do, its limits, and what it has used; and the names clients are counted by."""
