"""Text to the ids of the language model: normalisation, tags, tokenizers."""
