"""The dialects that this server answers in."""

from polyvox.api import (
    conversion,
    cosyvoice,
    dialogue,
    dictionaries,
    fitting,
    jobs,
    kokoro,
    openai,
    rayserve,
    streamable,
    usage,
    voices,
    zipvoice,
)
from polyvox.api.cartesia import door as cartesia
from polyvox.api.elevenlabs import door as elevenlabs
from polyvox.api.mcp import door as mcp
from polyvox.api.openai_realtime import door as openai_realtime
from polyvox.api.realtime import door as realtime
from polyvox.api.studio import door as studio

# Fitting comes before the voices, one of whose paths would match its paths too.
DOORS = (
    openai.DOOR,
    openai_realtime.DOOR,
    dialogue.DOOR,
    conversion.DOOR,
    kokoro.DOOR,
    fitting.DOOR,
    voices.DOOR,
    dictionaries.DOOR,
    zipvoice.DOOR,
    streamable.DOOR,
    cosyvoice.DOOR,
    rayserve.DOOR,
    cartesia.DOOR,
    realtime.DOOR,
    mcp.DOOR,
    elevenlabs.DOOR,
    jobs.DOOR,
    usage.DOOR,
    studio.DOOR,
)
