"""ONNX graphs written by hand: the builder, and the networks that are published as weights without a graph."""
