"""OpenAI's SDK over its Realtime API: two messages spoken as one text, and when which words came."""

import base64
import json
import sys

from openai import OpenAI

url, model, *texts = sys.argv[1:]
sound, words, times = b"", "", []
with OpenAI(base_url=url, api_key="none").realtime.connect(model=model) as connection:
    connection.session.update(session={"type": "realtime", "audio": {"output": {"voice": "marin"}}})
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
print(json.dumps({"sound": base64.b64encode(sound).decode(), "words": words, "times": times}))
