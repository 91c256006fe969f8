"""ElevenLabs' own SDK against a server: `elevenlabs_sdk.py URL KEY VOICE`; prints what it saw as JSON."""

import asyncio
import base64
import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

from elevenlabs import VoiceSettings
from elevenlabs.client import AsyncElevenLabs, ElevenLabs
from elevenlabs.core.api_error import ApiError
from elevenlabs.types import DialogueInput

TEXT = "One two, three."
PCM = "pcm_24000"
MODEL = "eleven_multilingual_v2"


def fingerprint(data: bytes) -> dict[str, Any]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def aligned(found: Any) -> dict[str, Any]:
    return {
        "text": "".join(found.characters),
        "starts": found.character_start_times_seconds,
        "ends": found.character_end_times_seconds,
    }


def refused(call: Callable[[], object]) -> dict[str, Any]:
    try:
        call()
    except ApiError as error:
        return {"status": error.status_code, "body": error.body}
    return {"status": 200, "body": None}


def speak(client: ElevenLabs, voice: str) -> dict[str, Any]:
    speech = client.text_to_speech
    asked: dict[str, Any] = {"text": TEXT, "model_id": MODEL, "output_format": PCM}
    timed = speech.convert_with_timestamps(voice, **asked)
    lines = list(speech.stream_with_timestamps(voice, **asked))
    inputs = [DialogueInput(text="One two.", voice_id=voice), DialogueInput(text="Three.", voice_id=voice)]
    settings = VoiceSettings(stability=0.4, similarity_boost=0.7, style=0.1, speed=2.0, use_speaker_boost=True)
    return {
        "convert": fingerprint(b"".join(speech.convert(voice, **asked))),
        "stream": fingerprint(b"".join(speech.stream(voice, **asked, voice_settings=settings, seed=3))),
        "mp3": fingerprint(b"".join(speech.convert(voice, text=TEXT))),
        "timed": aligned(timed.alignment) | fingerprint(base64.b64decode(timed.audio_base_64)),
        "lines": [
            fingerprint(base64.b64decode(line.audio_base_64))
            | ({} if line.alignment is None else aligned(line.alignment))
            for line in lines
        ],
        "dialogue": fingerprint(b"".join(client.text_to_dialogue.convert(inputs=inputs, output_format=PCM))),
        "segments": [
            segment.dialogue_input_index
            for segment in client.text_to_dialogue.convert_with_timestamps(
                inputs=inputs, output_format=PCM
            ).voice_segments
        ],
    }


def look_up(client: ElevenLabs, voice: str) -> dict[str, Any]:
    return {
        "all": [one.voice_id for one in client.voices.get_all().voices],
        "search": [one.name for one in client.voices.search(search="rachel").voices],
        "one": client.voices.get(voice).name,
        "models": [one.model_id for one in client.models.list() if one.can_do_text_to_speech],
        "subscription": client.user.subscription.get().status,
        "settings": client.voices.settings.get(voice).speed,
    }


def fail(client: ElevenLabs, url: str, voice: str) -> dict[str, Any]:
    stranger = ElevenLabs(base_url=url, api_key="wrong")
    return {
        "voice": refused(lambda: b"".join(client.text_to_speech.convert("nobody", text=TEXT))),
        "format": refused(lambda: b"".join(client.text_to_speech.convert(voice, text=TEXT, output_format="mp3"))),
        "speed": refused(
            lambda: b"".join(client.text_to_speech.convert(voice, text=TEXT, voice_settings=VoiceSettings(speed=99)))
        ),
        "key": refused(lambda: b"".join(stranger.text_to_speech.convert(voice, text=TEXT))),
        "list": refused(lambda: stranger.voices.get_all()),
    }


async def speak_async(client: AsyncElevenLabs, voice: str) -> dict[str, Any]:
    speech = client.text_to_speech
    asked: dict[str, Any] = {"text": TEXT, "model_id": MODEL, "output_format": PCM}
    timed = await speech.convert_with_timestamps(voice, **asked)
    return {
        "convert": fingerprint(b"".join([part async for part in speech.convert(voice, **asked)])),
        "stream": fingerprint(b"".join([part async for part in speech.stream(voice, **asked)])),
        "timed": aligned(timed.alignment),
        "lines": len([line async for line in speech.stream_with_timestamps(voice, **asked)]),
        "voices": len((await client.voices.get_all()).voices),
        "models": len(await client.models.list()),
    }


def main(url: str, key: str, voice: str) -> dict[str, Any]:
    client = ElevenLabs(base_url=url, api_key=key)
    return {
        "speech": speak(client, voice),
        "lists": look_up(client, voice),
        "errors": fail(client, url, voice),
        "async": asyncio.run(speak_async(AsyncElevenLabs(base_url=url, api_key=key), voice)),
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
