"""Cartesia's SDK, sync and async: bytes, events, sockets with contexts, voices and errors."""

import asyncio
import json
import sys

import cartesia
from cartesia import AsyncCartesia, Cartesia

url, key, known = sys.argv[1:]
RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}
TEXT = "Well, hello there: this is one-two three."
PARTS = ("Well, he", "llo there: this is", " one-two three.")
common = {"model_id": "sonic-3", "output_format": RAW}


def words_of(events):
    stamps = [event.word_timestamps for event in events if event.type == "timestamps"]
    return [word for stamp in stamps for word in stamp.words], [time for stamp in stamps for time in stamp.start]


def phonemes_of(events):
    """The phonemes, where each has a start and an end and all are in order."""
    stamps = [event.phoneme_timestamps for event in events if event.type == "phoneme_timestamps"]
    times = [time for stamp in stamps for pair in zip(stamp.start, stamp.end, strict=True) for time in pair]
    assert times == sorted(times), times
    return [phoneme for stamp in stamps for phoneme in stamp.phonemes]


def summary(events):
    """What a test can check of a context's events."""
    words, starts = words_of(events)
    return {
        "types": [event.type for event in events],
        "bytes": sum(len(event.audio) for event in events if event.type == "chunk"),
        "words": words,
        "phonemes": "".join(phonemes_of(events)),
        "ordered": starts == sorted(starts) and starts[:1] in ([], [0.0]),
        "contexts": sorted({str(event.context_id) for event in events}),
        "flushes": [event.flush_id for event in events if event.type == "flush_done"],
    }


def refusal(call):
    try:
        call()
    except cartesia.APIStatusError as error:
        return {"class": type(error).__name__, "status": error.status_code, "code": error.body["error_code"]}
    return None


def sync_client(token=key, **options):
    host = url.replace("http", "ws", 1)
    return Cartesia(api_key=token, base_url=url, websocket_base_url=host, max_retries=0, **options)


def sync_http():
    client = sync_client()
    plain = client.tts.generate(transcript=TEXT, voice={"mode": "id", "id": "low"}, **common).read()
    wav = {"container": "wav", "encoding": "pcm_f32le", "sample_rate": 44_100}
    whole = client.tts.generate(transcript=TEXT, voice=known, model_id="sonic-latest", output_format=wav).read()
    timed = {"add_timestamps": True, "add_phoneme_timestamps": True, "context_id": "c"}
    events = list(client.tts.generate_sse(transcript=TEXT, voice="low", **timed, **common))
    return {
        "status": client.get_status().ok,
        "bytes": len(plain),
        "wav": [whole[:4].decode(), len(whole)],
        "sse": summary(events),
        "voices": [voice.id for voice in client.voices.list(limit=1)],
        "voice": client.voices.get(known).id,
        "unknown": refusal(lambda: client.tts.generate(transcript=TEXT, voice="nobody", **common)),
        "empty": refusal(lambda: client.tts.generate(transcript="", voice="low", **common)),
        "sse_unknown": refusal(lambda: list(client.tts.generate_sse(transcript=TEXT, voice="nobody", **common))),
        "wrong_key": refusal(lambda: sync_client("wrong").voices.get("low")),
        "no_voice": refusal(lambda: client.voices.get("nobody")),
        "token": refusal(lambda: client.access_token.create(grants={"tts": True}, expires_in=60)),
    }


def sync_socket():
    found = {}
    with sync_client().tts.websocket_connect() as connection:
        spoken = connection.context(voice="low", add_timestamps=True, add_phoneme_timestamps=True, **common)
        for part in PARTS:
            spoken.push(part)
        spoken.no_more_inputs()
        found["continued"] = summary(list(spoken.receive()))

        flushed = connection.context(voice="low", **common)
        flushed.push("No end", flush=True)
        flushed.push(" of it")
        flushed.no_more_inputs()
        found["flushed"] = summary(list(flushed.receive()))

        one, two = (connection.context(voice=voice, **common) for voice in ("low", known))
        for part in PARTS:
            one.push(part)
            two.push(part)
        two.no_more_inputs()
        one.no_more_inputs()
        found["both"] = [summary(list(context.receive())) for context in (two, one)]

        bad = connection.context(voice="nobody", **common)
        bad.push("Hello.", continue_=False)
        events = list(bad.receive())
        found["error"] = {"types": [event.type for event in events], "status": events[-1].status_code}

        slow = connection.context(voice="low", max_buffer_delay_ms=0, **common)
        slow.push("This goes on slowly.")
        first = next(slow.receive()).type
        slow.cancel()
        after = connection.context(voice="low", **common)
        after.push(TEXT, continue_=False)
        heard = [event for event in after.receive() if event.context_id == after._context_id]
        found["cancelled"] = {"first": first, "after": summary(heard)}
    old = sync_client().tts.websocket()
    whole = old.send(transcript=TEXT, voice={"mode": "id", "id": "low"}, stream=False, add_timestamps=True, **common)
    old.close()
    found["old"] = {"bytes": len(whole.audio), "words": whole.word_timestamps["words"]}
    return found


async def async_everything():
    base = f"{url}/cartesia"
    found = {}
    async with AsyncCartesia(
        api_key=key, base_url=base, websocket_base_url=base.replace("http", "ws", 1), max_retries=0
    ) as client:
        response = await client.tts.generate(transcript=TEXT, voice="low", **common)
        found["bytes"] = len(await response.read())
        stream = await client.tts.generate_sse(transcript=TEXT, voice="low", add_timestamps=True, **common)
        found["sse"] = summary([event async for event in stream])
        found["voices"] = [voice.id async for voice in client.voices.list(limit=1)]
        async with client.tts.websocket_connect() as connection:

            async def spoken(voice, end):
                context = connection.context(voice=voice, add_timestamps=True, max_buffer_delay_ms=0, **common)
                for part in PARTS if end else ("This goes on slowly.",):
                    await context.push(part)
                if end:
                    await context.no_more_inputs()
                    return summary([event async for event in context.receive()])
                first = await anext(context.receive())
                await context.cancel()
                return {"first": first.type}

            tasks = [spoken("low", True), spoken(known, True), spoken("low", False), spoken("nobody", True)]
            found["contexts"] = await asyncio.gather(*tasks)
        async with client.tts.websocket_connect() as connection:
            context = connection.context(voice="low", **common)
            await context.push(TEXT, continue_=False)
            found["again"] = summary([event async for event in context.receive()])
    return found


print(json.dumps({"http": sync_http(), "socket": sync_socket(), "async": asyncio.run(async_everything())}))
