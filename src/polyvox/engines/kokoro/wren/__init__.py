"""Kokoro with Wren, a small decoder, on ONNX Runtime: Kokoro's own front, then Wren piece by piece."""
