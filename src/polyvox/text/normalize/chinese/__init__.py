"""How Mandarin reads figures, one kind of thing in each file."""
