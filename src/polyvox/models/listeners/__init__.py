"""Networks that judge speech: speaker embeddings and opinion scores."""
