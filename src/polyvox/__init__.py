"""Polyvox: one speech server."""

import os

__version__ = "0.1.0"

# The published builds of ONNX Runtime report usage to their maker and leave an identifier in the home folder, from the
# first import on. A server that hears people's voices does not, unless its operator sets this variable otherwise.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
