"""The words and habits of French."""
