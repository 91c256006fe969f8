"""Finished speech on disk, and the keys under which the same request finds it again."""
