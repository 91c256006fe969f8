"""ElevenLabs' own SDK has a recording transcribed: `elevenlabs_speech_to_text.py URL FILE`; prints what it saw."""

import json
import sys
from pathlib import Path

from elevenlabs.client import ElevenLabs

client = ElevenLabs(base_url=sys.argv[1], api_key="none")
found = client.speech_to_text.convert(model_id="scribe_v1", file=Path(sys.argv[2]).read_bytes(), language_code="en")
print(
    json.dumps(
        {"text": found.text, "language": found.language_code, "words": [(word.text, word.type) for word in found.words]}
    )
)
