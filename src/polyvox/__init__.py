"""Polyvox: one speech server, and the same speech in process.

`Speaker` speaks without a server. What is exported here is the library's public interface; the rest may change.
"""

import os
from typing import TYPE_CHECKING, Any

from polyvox.errors import PolyvoxError

if TYPE_CHECKING:
    from polyvox.speaker import ReferenceVoice, Speaker, SpeechStream
    from polyvox.speech import Speech
    from polyvox.types import AudioChunk, Voice, WordTiming

__version__ = "0.1.0"

__all__ = [
    "AudioChunk",
    "PolyvoxError",
    "ReferenceVoice",
    "Speaker",
    "Speech",
    "SpeechStream",
    "Voice",
    "WordTiming",
    "__version__",
]

# The published builds of ONNX Runtime report usage to their maker and leave an identifier in the home folder, from the
# first import on. A server that hears people's voices does not, unless its operator sets this variable otherwise.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

_TYPES = frozenset({"AudioChunk", "Voice", "WordTiming"})


def __getattr__(name: str) -> Any:  # noqa: ANN401 - what is exported is of many types
    """Import a public name when it is first used: the commands start without the models' libraries."""
    if name not in __all__:
        raise AttributeError(f"module 'polyvox' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("polyvox.types" if name in _TYPES else "polyvox.speaker"), name)
