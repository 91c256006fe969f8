"""Training of Wren, a small decoder for the features that Kokoro predicts."""
