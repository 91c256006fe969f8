"""OpenAI's SDK over its Realtime API: two messages spoken as one text, with the times of its words, then heard."""

import base64
import json
import sys

from openai import OpenAI

url, model, *texts = sys.argv[1:]
sound, words, times, heard = b"", "", [], []
STEP, SECOND = 4_800, bytes(48_000)
with OpenAI(base_url=url, api_key="none").realtime.connect(model=model) as connection:
    listens = {"transcription": {"language": "en"}}
    connection.session.update(session={"type": "realtime", "audio": {"output": {"voice": "marin"}, "input": listens}})
    for text in texts:
        content = [{"type": "input_text", "text": text}]
        connection.conversation.item.create(item={"type": "message", "role": "user", "content": content})
    connection.response.create()
    for event in connection:
        if event.type == "response.output_audio.delta":
            sound += base64.b64decode(event.delta)
        elif event.type == "response.output_audio_transcript.delta":
            words += event.delta
            times.append(len(sound) / 48_000)
        elif event.type == "response.done":
            break
    told = sound + SECOND
    for start in range(0, len(told), STEP):
        connection.input_audio_buffer.append(audio=base64.b64encode(told[start : start + STEP]).decode())
    connection.input_audio_buffer.clear()
    turns, cleared = 0, False
    while not cleared or len(heard) < turns:
        event = connection.recv()
        turns += event.type == "input_audio_buffer.committed"
        cleared |= event.type == "input_audio_buffer.cleared"
        if event.type == "conversation.item.input_audio_transcription.completed":
            heard.append(event.transcript)
print(json.dumps({"sound": base64.b64encode(sound).decode(), "words": words, "times": times, "heard": heard}))
