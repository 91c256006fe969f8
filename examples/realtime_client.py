"""Speak a text while it is being written, into an MP3 file: python examples/realtime_client.py"""

import asyncio
import base64
import json
import os
from pathlib import Path

from websockets.asyncio.client import connect

SERVER = os.environ.get("POLYVOX_URL", "http://127.0.0.1:8880")
TEXT = "The tide is out, and the boats lie on the sand. Good morning."


async def speak() -> bytes:
    audio = bytearray()
    async with connect(SERVER.replace("http", "ws", 1) + "/v1/realtime/speech") as socket:
        await socket.send(json.dumps({"type": "start", "voice": "af_heart", "format": "mp3", "word_timings": True}))
        for word in TEXT.split():
            await socket.send(json.dumps({"type": "text", "text": f"{word} "}))
        await socket.send(json.dumps({"type": "end"}))
        async for message in socket:
            match json.loads(message):
                case {"type": "audio", "data": data}:
                    audio += base64.b64decode(data)
                case {"type": "words", "words": words}:
                    print(*(f"{word['start']:.2f} {word['word']}" for word in words), sep="\n")
                case {"type": "error", "message": problem}:
                    raise SystemExit(problem)
                case {"type": "done"}:
                    break
    return bytes(audio)


Path("tide.mp3").write_bytes(asyncio.run(speak()))
