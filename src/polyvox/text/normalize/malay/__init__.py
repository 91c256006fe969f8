"""How Malay is read aloud, one kind of thing in each file."""
