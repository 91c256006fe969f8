"""Sets a Wyoming server up and speaks with it, by the calls and in the time of Home Assistant's integration.

`wyoming_home_assistant.py URI [VOICE]`: without a voice, the voices of each language as its settings page offers them;
with one, the sound of a sentence.
"""

import asyncio
import json
import sys
import time
from collections import defaultdict

from wyoming.audio import AudioChunk, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.info import Describe, Info
from wyoming.tts import Synthesize, SynthesizeVoice

HOST, PORT = sys.argv[1].removeprefix("tcp://").rsplit(":", 1)
INFO_SECONDS = 1.0
"""Home Assistant gives `describe` a second, and shows the server as unreachable after three of them."""


async def offered() -> dict:
    """The installed voices of the first installed program, by language: it shows no others."""
    began = time.monotonic()
    async with AsyncTcpClient(HOST, int(PORT)) as client, asyncio.timeout(INFO_SECONDS):
        await client.write_event(Describe().event())
        while (event := await client.read_event()) is not None and not Info.is_type(event.type):
            pass
    if event is None:
        return {"closed": True}
    program = next(each for each in Info.from_event(event).tts if each.installed)
    languages = defaultdict(list)
    for voice in program.voices:
        for language in voice.languages if voice.installed else ():
            languages[language].append(voice.name)
    return {"seconds": time.monotonic() - began, "languages": languages}


async def spoken(voice: str) -> dict:
    received = 0
    async with AsyncTcpClient(HOST, int(PORT)) as client:
        await client.write_event(Synthesize("The tide is out.", SynthesizeVoice(name=voice)).event())
        while (event := await client.read_event()) is not None and not AudioStop.is_type(event.type):
            if AudioChunk.is_type(event.type):
                received += len(AudioChunk.from_event(event).audio)
    return {"bytes": received, "whole": event is not None}


print(json.dumps(asyncio.run(spoken(sys.argv[2]) if len(sys.argv) > 2 else offered())))
