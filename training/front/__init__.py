"""Training of the small transformer that stands in ALBERT's place in Wren's front; see README.md."""
