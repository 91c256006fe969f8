"""The words and habits of Portuguese."""
