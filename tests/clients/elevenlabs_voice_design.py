"""ElevenLabs' own SDK designs a voice: `elevenlabs_voice_design.py URL KEY`; prints what it saw as JSON."""

import base64
import json
import sys
from typing import Any

from elevenlabs.client import ElevenLabs

DESCRIPTION = "A warm and old voice, a little hoarse."
PCM = "pcm_24000"


def main(url: str, key: str) -> dict[str, Any]:
    designs = ElevenLabs(base_url=url, api_key=key).text_to_voice
    made = designs.design(voice_description=DESCRIPTION, output_format=PCM, auto_generate_text=True, seed=4)
    earlier = designs.create_previews(voice_description=DESCRIPTION, output_format=PCM, text="One two.")
    first = made.previews[0]
    without = designs.design(voice_description=DESCRIPTION, text="One two.", stream_previews=True)
    voice = designs.create(
        voice_name="Designed", voice_description=DESCRIPTION, generated_voice_id=first.generated_voice_id
    )
    return {
        "previews": [len(base64.b64decode(each.audio_base_64)) for each in (*made.previews, *earlier.previews)],
        "seconds": first.duration_secs,
        "silent": [each.audio_base_64 for each in without.previews],
        "streamed": len(b"".join(designs.preview.stream(first.generated_voice_id))),
        "text": made.text,
        "voice": [voice.voice_id, voice.name, voice.category, voice.description],
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
