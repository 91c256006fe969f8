"""A manuscript spoken into a folder, and the files that are made of it."""
