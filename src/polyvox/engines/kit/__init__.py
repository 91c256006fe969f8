"""What engines do alike, once."""
