"""Recognition: the words of a recording, their times, and the voice that speaks them."""
