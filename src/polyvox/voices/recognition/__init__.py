"""What is said in a recording, when, and by whom."""
