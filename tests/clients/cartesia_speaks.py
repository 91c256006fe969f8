"""Cartesia's SDK speaks texts that arrive word by word, several at once on one socket."""

import asyncio
import base64
import json
import sys

from cartesia import AsyncCartesia

url, *texts = sys.argv[1:]
VOICES = ("f786b574-daa5-4673-aa0c-cbe3e8534c02", "71a7ad14-091c-4e8e-a314-022ece01c121", "am_michael")
RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 16_000}


async def spoken(connection, text, voice):
    context = connection.context(model_id="sonic-3", voice=voice, output_format=RAW, language="en", add_timestamps=True)
    for word in text.split(" "):
        await context.push(f"{word} ")
    await context.no_more_inputs()
    audio, words, starts = b"", [], []
    async for event in context.receive():
        if event.type == "chunk":
            audio += event.audio
        elif event.type == "timestamps":
            words += event.word_timestamps.words
            starts += event.word_timestamps.start
    return {"audio": base64.b64encode(audio).decode(), "words": words, "starts": starts}


async def main():
    socket = url.replace("http", "ws", 1)
    client = AsyncCartesia(api_key="none", base_url=url, websocket_base_url=socket)
    async with client.tts.websocket_connect() as connection:
        tasks = [spoken(connection, text, VOICES[place % len(VOICES)]) for place, text in enumerate(texts)]
        print(json.dumps({"spoken": await asyncio.gather(*tasks)}))


asyncio.run(main())
