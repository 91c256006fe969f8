"""OpenAI's client against a running server (`make serve`), streamed to a file."""

import os

from openai import OpenAI

client = OpenAI(base_url=os.environ.get("POLYVOX_URL", "http://127.0.0.1:8880") + "/v1", api_key="none")
with client.audio.speech.with_streaming_response.create(
    model="kokoro", voice="af_heart(2)+bf_emma(1)", input="Two voices, one speaker.", response_format="wav"
) as response:
    response.stream_to_file("mixed.wav")
print("Wrote mixed.wav.")
