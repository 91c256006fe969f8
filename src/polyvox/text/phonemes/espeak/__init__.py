"""espeak-ng: its phonemes as those of the models, by its library or its program, each in a process of its own."""
