"""LiveKit's OpenAI plugin over HTTP: speaks whole texts and arriving ones, is interrupted, meets errors."""

import asyncio
import json
import logging
import sys

from livekit.agents import APIConnectOptions, APIStatusError
from livekit.agents import tts as speech
from livekit.agents.tokenize import blingfire
from livekit.plugins import openai

url, key, text = sys.argv[1:]
ONCE = APIConnectOptions(max_retry=0, timeout=10)


class Warnings(logging.Handler):
    """Keeps what LiveKit warns of."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def speaker(api_key=key, **options):
    return openai.TTS(base_url=url, api_key=api_key, **options)


async def spoken(stream):
    seconds, requests = 0.0, set()
    async with stream:
        async for event in stream:
            seconds += event.frame.duration
            requests.add(event.request_id)
    return {"seconds": seconds, "requests": len(requests - {""}), "rate": event.frame.sample_rate}


async def failed(**options):
    try:
        await spoken(speaker(**options).synthesize(text, conn_options=ONCE))
    except APIStatusError as error:
        return [error.status_code, error.retryable, error.body["code"]]
    return None


async def arriving():
    """Text in fragments, which the plugin cuts into sentences itself."""
    adapter = speech.StreamAdapter(tts=speaker(), sentence_tokenizer=blingfire.SentenceTokenizer())
    async with adapter.stream(conn_options=ONCE) as stream:
        for fragment in (text[:5], text[5:], " ", text):
            stream.push_text(fragment)
        stream.end_input()
        return await spoken(stream)


async def interrupted():
    stream = speaker(model="long").synthesize(text, conn_options=ONCE)
    first = await anext(aiter(stream))
    await stream.aclose()
    return {"seconds": first.frame.duration, "after": await spoken(speaker().synthesize(text, conn_options=ONCE))}


async def main():
    warnings = Warnings()
    logging.getLogger("livekit.agents").addHandler(warnings)
    result = {
        "events": await spoken(speaker(voice="ash").synthesize(text, conn_options=ONCE)),
        "audio": await spoken(speaker(model="tts-1", response_format="pcm").synthesize(text, conn_options=ONCE)),
        "arriving": await arriving(),
        "voice": await failed(voice="nobody"),
        "model": await failed(model="nothing"),
        "key": await failed(api_key="wrong"),
        "interrupted": await interrupted(),
    }
    print(json.dumps({**result, "warnings": warnings.messages}))


asyncio.run(main())
