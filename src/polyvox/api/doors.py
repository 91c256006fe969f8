"""The dialects that this server answers in."""

from polyvox.api import conversion, cosyvoice, dialect, dialogue, fitting, kokoro, openai, rayserve, streamable, voices
from polyvox.api import zipvoice as zipvoice_door
from polyvox.api.door import Door

# The fits come before the voices, one of whose paths would match theirs too.
DOORS = (
    Door("openai", openai.router),
    Door("dialogue", dialogue.router),
    Door("conversion", conversion.router),
    Door("kokoro", kokoro.router),
    Door("fitting", fitting.router),
    Door("voices", voices.router),
    Door("zipvoice", zipvoice_door.router, zipvoice_door.ZipVoiceApiSettings, zipvoice_door.FOREIGN),
    Door("streamable", streamable.router, dialect.StreamableSettings, dialect.FOREIGN),
    Door("cosyvoice", cosyvoice.router),
    Door("rayserve", rayserve.router, foreign=rayserve.FOREIGN),
)
