"""Wyoming's own package has samples transcribed: `wyoming_transcribe.py tcp://HOST:PORT FILE`; prints what it saw."""

import asyncio
import json
import sys
from pathlib import Path

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.info import Describe, Info

HOST, PORT = sys.argv[1].removeprefix("tcp://").rsplit(":", 1)
SAMPLES = Path(sys.argv[2]).read_bytes()
FORM = {"rate": 16_000, "width": 2, "channels": 1}


async def main() -> None:
    async with AsyncTcpClient(HOST, int(PORT), connect_timeout=5, read_timeout=60) as client:
        await client.write_event(Describe().event())
        info = Info.from_event(await client.read_event())
        await client.write_event(Transcribe(language="en").event())
        await client.write_event(AudioStart(**FORM).event())
        await client.write_event(AudioChunk(audio=SAMPLES, **FORM).event())
        await client.write_event(AudioStop().event())
        transcript = Transcript.from_event(await client.read_event())
    models = [model.name for program in info.asr for model in program.models]
    print(json.dumps({"models": models, "text": transcript.text, "language": transcript.language}))


asyncio.run(main())
