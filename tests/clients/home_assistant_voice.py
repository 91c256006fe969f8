"""Speaks and listens by Home Assistant's own Wyoming integration: `home_assistant_voice.py HOST PORT VOICE TEXT`.

What it has said goes back to the same server to be heard, at the rate of Home Assistant's microphones.
"""

import asyncio
import io
import json
import sys
import wave
from collections.abc import AsyncIterator
from types import SimpleNamespace

import numpy as np
from homeassistant.components import stt
from homeassistant.components.wyoming.data import WyomingService
from homeassistant.components.wyoming.stt import WyomingSttProvider
from homeassistant.components.wyoming.tts import WyomingTtsProvider

HOST, PORT, VOICE, TEXT = sys.argv[1:]
MICROPHONE_RATE = 16_000
PACKET_BYTES = 2_048
ENGLISH = stt.SpeechMetadata(
    "en",
    stt.AudioFormats.WAV,
    stt.AudioCodecs.PCM,
    stt.AudioBitRates.BITRATE_16,
    stt.AudioSampleRates.SAMPLERATE_16000,
    stt.AudioChannels.CHANNEL_MONO,
)


def microphone_packets(wav: bytes) -> tuple[float, list[bytes]]:
    """The seconds of a recording, and its samples as packets of a microphone."""
    with wave.open(io.BytesIO(wav)) as file:
        rate, samples = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2")
    places = np.arange(0, len(samples), rate / MICROPHONE_RATE)
    pcm = np.interp(places, np.arange(len(samples)), samples).astype("<i2").tobytes()
    return len(samples) / rate, [pcm[start : start + PACKET_BYTES] for start in range(0, len(pcm), PACKET_BYTES)]


async def stream(packets: list[bytes]) -> AsyncIterator[bytes]:
    for packet in packets:
        yield packet


async def main() -> dict:
    service = await WyomingService.create(HOST, int(PORT))
    assert service is not None, "the integration found no server"
    entry = SimpleNamespace(entry_id="polyvox")
    speaker, listener = WyomingTtsProvider(entry, service), WyomingSttProvider(entry, service)
    kind, wav = await speaker.async_get_tts_audio(TEXT, "en-US", {"voice": VOICE})
    seconds, packets = microphone_packets(wav)
    heard = await listener.async_process_audio_stream(ENGLISH, stream(packets))
    return {
        "platforms": sorted(service.platforms),
        "name": service.get_name(),
        "voices": [voice.voice_id for voice in speaker.async_get_supported_voices("en-US")],
        "kind": kind,
        "seconds": seconds,
        "heard": heard.text,
    }


print(json.dumps(asyncio.run(main())))
