"""LiveKit's plugin for Cartesia: whole texts, streams with word times, interruptions, reconnection and errors."""

import asyncio
import json
import sys

import aiohttp
from livekit.agents import APIConnectOptions, APIError
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT
from livekit.plugins import cartesia

url, key, known = sys.argv[1:]
PARTS = ("Well, he", "llo there! Th", "is is one-two three.")
ONCE = APIConnectOptions(max_retry=0, timeout=10)
AGAIN = APIConnectOptions(max_retry=8, retry_interval=0.05, timeout=10)


def engine(session, token=key, **options):
    return cartesia.TTS(api_key=token, base_url=url, http_session=session, **({"voice": "low"} | options))


async def heard(speech):
    """Samples, words and their times of what is spoken."""
    samples, words = 0, []
    async for event in speech:
        samples += event.frame.samples_per_channel
        words += [(str(word), word.start_time) for word in event.frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, ())]
    starts = [start for _, start in words]
    return {"samples": samples, "words": [word for word, _ in words], "ordered": starts == sorted(starts)}


async def streamed(tts, parts=PARTS, options=ONCE):
    async with tts.stream(conn_options=options) as stream:
        for part in parts:
            stream.push_text(part)
        stream.end_input()
        return await heard(stream)


async def interrupted(tts):
    """Leave in the middle of a text."""
    stream = tts.stream(conn_options=ONCE)
    stream.push_text("This goes on slowly. ")
    stream.flush()
    first = await anext(stream)
    await stream.aclose()
    return first.frame.samples_per_channel


async def refusal(speaking):
    try:
        await speaking
    except APIError as error:
        return {"status": getattr(error, "status_code", None), "message": str(error)}
    return None


async def main():
    found = {}
    async with aiohttp.ClientSession() as session:
        tts = engine(session)
        async with tts.synthesize("Well, hello there!", conn_options=ONCE) as whole:
            found["whole"] = await heard(whole)
        found["stream"] = await streamed(tts)
        found["same_socket"] = await streamed(tts, ("Once more.",))
        found["at_once"] = await asyncio.gather(*(streamed(tts) for _ in range(3)))
        found["interrupted"] = await interrupted(tts)
        found["after"] = await streamed(tts)
        for socket in list(tts._pool._connections):
            await socket.close()
        found["reconnected"] = await streamed(tts, options=AGAIN)
        found["known"] = await streamed(engine(session, voice=known, speed=1.5, volume=0.5, emotion="happy"))
        found["unknown"] = await refusal(streamed(engine(session, voice="nobody")))
        found["unknown_whole"] = await refusal(
            heard(engine(session, voice="nobody").synthesize("Hello.", conn_options=ONCE))
        )
        found["wrong_key"] = await refusal(streamed(engine(session, "wrong")))
        await tts.aclose()
    print(json.dumps(found))


asyncio.run(main())
