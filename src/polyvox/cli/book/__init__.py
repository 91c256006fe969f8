"""`polyvox book`: the command, its files, and the narration in this process."""
