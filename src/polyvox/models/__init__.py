"""The arithmetic of the models: tensors in, tensors out; nothing of serving, files or randomness."""
