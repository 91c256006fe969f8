"""A recording made a voice by three SDKs: `cloning_calls.py URL KEY RECORDING`; prints what each was told as JSON."""

import json
import sys
from pathlib import Path
from typing import Any

from cartesia import Cartesia
from elevenlabs.client import ElevenLabs
from openai import OpenAI


def elevenlabs(url: str, key: str, recording: Path) -> dict[str, Any]:
    client = ElevenLabs(base_url=url, api_key=key)
    made = client.voices.ivc.create(name="by-elevenlabs", files=[recording.read_bytes()])
    user = client.user.get()
    names = [voice.name for voice in client.voices.get_all().voices]
    return {
        "id": made.voice_id,
        "verification": made.requires_verification,
        "name": client.voices.get(made.voice_id).name,
        "user": [user.workspace_id, user.is_onboarding_checklist_completed, user.created_at, user.seat_type],
        "unique": len(names) == len(set(names)),
        "spoken": len(b"".join(client.text_to_speech.convert(made.voice_id, text="Hello."))) > 0,
        "deleted": client.voices.delete(made.voice_id).status,
    }


def cartesia(url: str, key: str, recording: Path) -> dict[str, Any]:
    client = Cartesia(api_key=key, base_url=url, max_retries=0)
    made = client.voices.clone(clip=recording, language="en", name="by-cartesia")
    raw: Any = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}
    voice: Any = {"mode": "id", "id": made.id}
    spoken = client.tts.generate(transcript="Hello.", voice=voice, model_id="sonic-3", output_format=raw).read()
    client.voices.delete(made.id)
    return {"id": made.id, "name": made.name, "access": made.access, "spoken": len(spoken) > 0}


def openai(url: str, key: str, recording: Path) -> dict[str, Any]:
    client = OpenAI(api_key=key, base_url=f"{url}/v1", max_retries=0)
    made = client.audio.voices.create(audio_sample=recording, consent="cons_1234", name="by-openai")
    spoken = client.audio.speech.create(input="Hello.", model="tts-1", voice={"id": made.id}).read()
    return {"id": made.id, "name": made.name, "object": made.object, "spoken": len(spoken) > 0}


def main(url: str, key: str, recording: str) -> dict[str, Any]:
    return {call.__name__: call(url, key, Path(recording)) for call in (elevenlabs, cartesia, openai)}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
