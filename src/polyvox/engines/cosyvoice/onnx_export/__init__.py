"""Export of CosyVoice 2's and 3's flow and vocoder to ONNX graphs that stream: caches are inputs and outputs."""
