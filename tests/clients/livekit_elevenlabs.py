"""LiveKit's ElevenLabs plugin against a server: `livekit_elevenlabs.py URL KEY VOICE [TEXT...]`; prints JSON."""

import asyncio
import base64
import json
import sys
from typing import Any

import aiohttp
from livekit.agents import APIError, APIStatusError
from livekit.agents.types import APIConnectOptions
from livekit.plugins import elevenlabs

ONCE = APIConnectOptions(max_retry=0, timeout=10)
SENTENCES = ("One two, three. ", "Four five six. ")


def audio_of(frames: list[Any], *, whole: bool = False) -> dict[str, Any]:
    data = b"".join(bytes(frame.data) for frame in frames)
    rate = frames[0].sample_rate if frames else 0
    found = {"bytes": len(data), "rate": rate, "seconds": len(data) / 2 / rate if rate else 0.0}
    return found | ({"pcm": base64.b64encode(data).decode()} if whole else {})


def words_of(frames: list[Any]) -> list[Any]:
    timed = [word for frame in frames for word in frame.userdata.get("lk.timed_transcripts", [])]
    return [[str(word), float(word.start_time), float(word.end_time)] for word in timed]


async def chunked(tts: elevenlabs.TTS, text: str) -> dict[str, Any]:
    async with tts.synthesize(text, conn_options=ONCE) as stream:
        return audio_of([event.frame async for event in stream])


async def streamed(tts: elevenlabs.TTS, *texts: str, whole: bool = False) -> dict[str, Any]:
    async with tts.stream(conn_options=ONCE) as stream:
        for text in texts:
            stream.push_text(text)
        stream.end_input()
        frames = [event.frame async for event in stream]
    return audio_of(frames, whole=whole) | {"words": words_of(frames)}


async def interrupted(tts: elevenlabs.TTS) -> dict[str, Any]:
    """Leave a stream in the middle, and speak at once with another one on the same socket."""
    stream = tts.stream(conn_options=ONCE)
    for _ in range(20):
        stream.push_text("These slow words are not all heard. ")
    stream.flush()
    first = await anext(aiter(stream))
    await stream.aclose()
    return {"heard": len(bytes(first.frame.data)), "next": await streamed(tts, *SENTENCES)}


async def reconnected(tts: elevenlabs.TTS) -> dict[str, Any]:
    """Speak, lose the socket, speak again."""
    before = await streamed(tts, SENTENCES[0])
    connection, _, _ = await tts._current_connection()
    await connection._ws.close()
    await asyncio.sleep(0.2)
    return {"before": before["bytes"], "after": (await streamed(tts, SENTENCES[0]))["bytes"]}


async def refused(tts: elevenlabs.TTS, *, stream: bool) -> dict[str, Any]:
    try:
        await (streamed(tts, SENTENCES[0]) if stream else chunked(tts, SENTENCES[0]))
    except APIError as error:
        status = error.status_code if isinstance(error, APIStatusError) else None
        return {"error": type(error).__name__, "status": status}
    return {"error": None}


async def main(url: str, key: str, voice: str, *texts: str) -> dict[str, Any]:
    async with aiohttp.ClientSession() as session:

        def make(key: str = key, voice: str = voice, **options: Any) -> elevenlabs.TTS:
            return elevenlabs.TTS(api_key=key, voice_id=voice, base_url=f"{url}/v1", http_session=session, **options)

        if texts:
            return await streamed(make(encoding="pcm_24000"), *texts, whole=True)
        mp3, pcm = make(), make(encoding="pcm_24000")
        by_words, v3 = make(encoding="pcm_24000", auto_mode=False), make(encoding="pcm_24000", model="eleven_v3")
        one, other = await asyncio.gather(streamed(pcm, *SENTENCES, whole=True), streamed(pcm, "Seven. ", whole=True))
        found = {
            "voices": [voice.id for voice in await mp3.list_voices()],
            "chunked": await chunked(mp3, "".join(SENTENCES)),
            "chunked_v3": await chunked(v3, "".join(SENTENCES)),
            "mp3": await streamed(mp3, *SENTENCES),
            "opus": await streamed(make(encoding="opus_48000_64"), *SENTENCES),
            "words": await streamed(by_words, *SENTENCES),
            "v3": await streamed(v3, *SENTENCES),
            "v3_mp3": await streamed(make(model="eleven_v3"), *SENTENCES),
            "one": one,
            "other": other,
            "interrupted": await interrupted(pcm),
            "reconnected": await reconnected(pcm),
            "bad_key": await refused(make(key="wrong"), stream=True),
            "bad_key_chunked": await refused(make(key="wrong"), stream=False),
            "bad_voice": await refused(make(voice="nobody"), stream=True),
            "bad_voice_chunked": await refused(make(voice="nobody"), stream=False),
        }
        for tts in (mp3, pcm, by_words, v3):
            await tts.aclose()
        return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
