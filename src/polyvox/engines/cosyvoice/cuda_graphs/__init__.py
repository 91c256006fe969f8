"""CUDA graphs of flow and vocoder: steps of few shapes, each captured once and then replayed as one launch."""
