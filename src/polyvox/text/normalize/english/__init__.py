"""How English reads what is not written as words, one kind of thing in each file."""
