"""Networks in PyTorch: tensors in, tensors out; no serving, no files, no randomness."""
