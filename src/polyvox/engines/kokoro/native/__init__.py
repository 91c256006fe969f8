"""Kokoro's and Wren's networks in PyTorch: loaded on a device that passes a test, and run in batches."""
