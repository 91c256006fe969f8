"""The dialects that this server answers in."""

from polyvox.api.dialects import streamable, zipvoice
from polyvox.api.dialects.cartesia import door as cartesia
from polyvox.api.dialects.cosyvoice import door as cosyvoice
from polyvox.api.dialects.cosyvoice import rayserve
from polyvox.api.dialects.elevenlabs import door as elevenlabs
from polyvox.api.dialects.kokoro_fastapi import door as kokoro
from polyvox.api.dialects.mcp import door as mcp
from polyvox.api.dialects.openai import door as openai
from polyvox.api.dialects.openai_realtime import door as openai_realtime
from polyvox.api.dialects.polyvox import (
    conversion,
    dialogue,
    dictionaries,
    fitting,
    jobs,
    provenance,
    pulls,
    usage,
    voices,
)
from polyvox.api.dialects.realtime import door as realtime
from polyvox.api.dialects.studio import door as studio

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
    provenance.DOOR,
    pulls.DOOR,
    usage.DOOR,
    studio.DOOR,
)
