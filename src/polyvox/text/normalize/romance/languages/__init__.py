"""The Romance languages, each one its numbers, its words and its abbreviations."""
