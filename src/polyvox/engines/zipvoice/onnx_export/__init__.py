"""Export of ZipVoice models to ONNX graphs with the inputs and outputs of the published ones."""
