"""The words and habits of Italian."""
