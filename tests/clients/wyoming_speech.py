"""Talks to a Wyoming server as Home Assistant does, with its own package."""

import asyncio
import base64
import json
import sys
import time

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)

HOST, PORT = sys.argv[1].removeprefix("tcp://").rsplit(":", 1)
TEXT = sys.argv[2] if len(sys.argv) > 2 else "The tide is out. The boats lie on the sand."


def connected() -> AsyncTcpClient:
    return AsyncTcpClient(HOST, int(PORT), connect_timeout=5, read_timeout=30)


async def heard(client: AsyncTcpClient, last: type) -> dict:
    """What the server says up to an event, the sound of it in base64."""
    kinds, sound, rate, first = [], b"", None, None
    began = time.monotonic()
    while True:
        event = await client.read_event()
        if event is None:
            kinds.append(None)
            break
        if AudioStart.is_type(event.type):
            rate = AudioStart.from_event(event).rate
        elif AudioChunk.is_type(event.type):
            chunk = AudioChunk.from_event(event)
            first = first or time.monotonic() - began
            assert (chunk.rate, chunk.width, chunk.channels) == (rate, 2, 1)
            sound += chunk.audio
        if not kinds or kinds[-1] != event.type:
            kinds.append(event.type)
        if last.is_type(event.type):
            break
    return {"kinds": kinds, "rate": rate, "audio": base64.b64encode(sound).decode(), "first": first}


async def described() -> dict:
    async with connected() as client:
        began = time.monotonic()
        await client.write_event(Describe().event())
        info = Info.from_event(await client.read_event())
        seconds = time.monotonic() - began
        await client.write_event(Ping("hello").event())
        pong = Pong.from_event(await client.read_event())
    (program,) = info.tts
    return {
        "seconds": seconds,
        "pong": pong.text,
        "streaming": program.supports_synthesize_streaming,
        "installed": program.installed and all(voice.installed for voice in program.voices),
        "voices": {voice.name: voice.languages for voice in program.voices},
        "attribution": [program.attribution.name, program.attribution.url],
    }


async def said(text: str, voice: SynthesizeVoice | None = None) -> dict:
    async with connected() as client:
        await client.write_event(Synthesize(text, voice).event())
        return await heard(client, AudioStop)


async def streamed(text: str) -> dict:
    """As Home Assistant streams: the parts, then all of it for old servers, then the end."""
    async with connected() as client:
        await client.write_event(SynthesizeStart().event())
        for start in range(0, len(text), 7):
            await client.write_event(SynthesizeChunk(text[start : start + 7]).event())
        await client.write_event(Synthesize(text).event())
        await client.write_event(SynthesizeStop().event())
        return await heard(client, SynthesizeStopped)


async def interrupted() -> int:
    """Leave in the middle of a long text; the bytes heard until then."""
    async with connected() as client:
        await client.write_event(Synthesize("a long text").event())
        await client.read_event()
        return len((await client.read_event()).payload)


async def refused(text: str, voice: SynthesizeVoice) -> dict:
    async with connected() as client:
        await client.write_event(Synthesize(text, voice).event())
        error = Error.from_event(await client.read_event())
        return {"text": error.text, "code": error.code, "then": await client.read_event()}


async def bad_frame() -> list:
    reader, writer = await asyncio.open_connection(HOST, int(PORT))
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    await writer.drain()
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return [json.loads(answer.split(b"\n")[0])["type"], reader.at_eof()]


async def main() -> None:
    if len(sys.argv) > 2:
        print(json.dumps({"streamed": await streamed(TEXT)}))
        return
    both = [said(TEXT, SynthesizeVoice(name=name)) for name in ("low", "high")]
    found = {
        "described": await described(),
        "said": await said(TEXT),
        "by_language": await said(TEXT, SynthesizeVoice(language="en-US")),
        "streamed": await streamed(TEXT),
        "both": await asyncio.gather(*both),
        "interrupted": await interrupted(),
        "refused": await refused(TEXT, SynthesizeVoice(name="nobody")),
        "bad_frame": await bad_frame(),
    }
    found["afterwards"] = await said(TEXT)
    print(json.dumps(found))


asyncio.run(main())
