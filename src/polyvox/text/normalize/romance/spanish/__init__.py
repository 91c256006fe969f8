"""The words and habits of Spanish."""
