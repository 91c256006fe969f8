"""OpenAI's SDK over its Realtime API: speaks, listens, is interrupted, meets errors, and reconnects."""

import asyncio
import base64
import json
import sys
from pathlib import Path

from openai import AsyncOpenAI, OpenAI
from openai.types.realtime import (
    ConversationItemInputAudioTranscriptionCompletedEvent,
    RealtimeErrorEvent,
    ResponseAudioDeltaEvent,
    ResponseAudioTranscriptDeltaEvent,
    ResponseDoneEvent,
    SessionCreatedEvent,
    SessionUpdatedEvent,
)
from websockets.exceptions import InvalidStatus

url, key, text, recording = sys.argv[1:]
SAMPLES = Path(recording).read_bytes()
STEP = 4_800
LONG = " ".join([text] * 200)


def message(words):
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}


def outside(words):
    return {"conversation": "none", "input": [message(words)]}


class Heard:
    """What the events of a response say."""

    def __init__(self):
        self.sound, self.words, self.kinds, self.error, self.done = b"", "", [], None, None

    def add(self, event):
        self.kinds.append(event.type)
        if isinstance(event, ResponseAudioDeltaEvent):
            self.sound += base64.b64decode(event.delta)
        elif isinstance(event, ResponseAudioTranscriptDeltaEvent):
            self.words += event.delta
        elif isinstance(event, RealtimeErrorEvent):
            self.error = event.error
        elif isinstance(event, ResponseDoneEvent):
            self.done = event.response

    def result(self):
        return {
            "sound": base64.b64encode(self.sound).decode(),
            "words": self.words,
            "status": self.done.status,
            "input_tokens": self.done.usage.input_tokens,
        }


async def heard(connection):
    response = Heard()
    while response.done is None and response.error is None:
        response.add(await connection.recv())
    return response


async def interrupted(connection):
    """A long response that is cancelled with its first sound, and what is said after it."""
    await connection.response.create(response=outside(LONG))
    response = Heard()
    while not response.sound:
        response.add(await connection.recv())
    await connection.response.cancel()
    while response.done is None:
        response.add(await connection.recv())
    await connection.response.create(response=outside(text))
    after = await heard(connection)
    return {**response.result(), "after": after.words}


async def errors(connection):
    await connection.input_audio_buffer.append(audio="no sound", event_id="mine")
    listening = (await heard(connection)).error
    await connection.response.create(response={**outside(text), "audio": {"output": {"voice": "nobody"}}})
    failed = (await heard(connection)).done
    await connection.response.cancel()
    idle = (await heard(connection)).error
    return {
        "listening": [listening.type, listening.code, listening.event_id],
        "failed": [failed.status, failed.status_details.error.code],
        "idle": idle.code,
    }


async def transcribed(connection):
    """The kinds of events when a sentence is said, and its transcript."""
    for start in range(0, len(SAMPLES), STEP):
        audio = base64.b64encode(SAMPLES[start : start + STEP]).decode()
        await connection.input_audio_buffer.append(audio=audio)
    event, kinds = None, []
    while not isinstance(event, ConversationItemInputAudioTranscriptionCompletedEvent):
        event = await connection.recv()
        kinds.append(event.type)
    return {"kinds": list(dict.fromkeys(kinds)), "transcript": event.transcript, "unit": event.usage.type}


async def listened(client):
    """A sentence that is said in a session that speaks too, interrupting it, and one in a session that only listens."""
    heard_as = {"transcription": {"model": "whisper-1", "language": "en"}, "turn_detection": {"type": "server_vad"}}
    async with client.realtime.connect(model="gpt-realtime") as connection:
        await connection.session.update(session={"type": "realtime", "audio": {"input": heard_as}})
        await connection.response.create(response={"input": [message(LONG)]})
        both = await transcribed(connection)
    async with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        created = await connection.recv()
        await connection.session.update(session={"type": "transcription", "audio": {"input": heard_as}})
        updated = await connection.recv()
        alone = await transcribed(connection)
    return {"both": both, "alone": alone, "types": [created.session.type, updated.session.type]}


async def in_the_conversation(connection):
    await connection.conversation.item.create(item=message(text))
    await connection.response.create()
    return (await heard(connection)).result()


async def reconnected(client):
    """The network fails, and the SDK connects again by itself."""
    codes = []

    def again(event):
        codes.append(event.close_code)

    async with client.realtime.connect(model="gpt-realtime", on_reconnecting=again, initial_delay=0.01) as connection:
        sessions = []
        async for event in connection:
            if isinstance(event, SessionCreatedEvent):
                sessions.append(event.session.id)
                if len(sessions) == 1:
                    connection._connection.transport.abort()
                    continue
                await connection.response.create(response=outside(text))
            elif isinstance(event, ResponseDoneEvent):
                break
    return {"sessions": len(set(sessions)), "codes": codes, "status": event.response.status}


async def refused():
    try:
        async with AsyncOpenAI(base_url=url, api_key="wrong").realtime.connect(model="gpt-realtime"):
            return None
    except InvalidStatus as error:
        return [error.response.status_code, json.loads(error.response.body)["error"]["code"]]


async def asynchronous():
    client = AsyncOpenAI(base_url=url, api_key=key)
    async with client.realtime.connect(model="gpt-realtime") as connection:
        created = await connection.recv()
        session = {
            "type": "realtime",
            "output_modalities": ["audio"],
            "audio": {"output": {"voice": "high", "format": {"type": "audio/pcm", "rate": 24000}}},
            "instructions": "Read the text aloud.",
        }
        await connection.session.update(session=session)
        updated = await connection.recv()
        await connection.response.create(response=outside(text))
        first = await heard(connection)
        return {
            "created": isinstance(created, SessionCreatedEvent),
            "updated": isinstance(updated, SessionUpdatedEvent) and updated.session.audio.output.voice,
            "kinds": list(dict.fromkeys(first.kinds)),
            "first": first.result(),
            "second": await in_the_conversation(connection),
            "interrupted": await interrupted(connection),
            "errors": await errors(connection),
            "listened": await listened(client),
            "reconnected": await reconnected(client),
            "refused": await refused(),
        }


def synchronous():
    """The same from a program without an event loop, with a key of a web page's."""
    lasting = OpenAI(base_url=url, api_key=key)
    secret = lasting.realtime.client_secrets.create(
        session={"type": "realtime", "audio": {"output": {"voice": "high"}}}, expires_after={"seconds": 60}
    )
    client = OpenAI(base_url=url, api_key=secret.value)
    response = Heard()
    with client.realtime.connect(model="gpt-realtime") as connection:
        connection.response.create(response=outside(text))
        while response.done is None:
            response.add(connection.recv())
    return {**response.result(), "voice": secret.session.audio.output.voice}


print(json.dumps({"asynchronous": asyncio.run(asynchronous()), "synchronous": synchronous()}))
