"""Items and contexts of the invariance suite: what is written is read alike wherever it stands."""
