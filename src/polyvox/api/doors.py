"""The dialects that this server answers in."""

from polyvox.api import conversion, cosyvoice, dialogue, fitting, kokoro, openai, rayserve, streamable, voices, zipvoice
from polyvox.api.elevenlabs import door as elevenlabs

# Fitting comes before the voices, one of whose paths would match its paths too.
DOORS = (
    openai.DOOR,
    dialogue.DOOR,
    conversion.DOOR,
    kokoro.DOOR,
    fitting.DOOR,
    voices.DOOR,
    zipvoice.DOOR,
    streamable.DOOR,
    cosyvoice.DOOR,
    rayserve.DOOR,
    elevenlabs.DOOR,
)
