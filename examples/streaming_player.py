"""Play speech while it is being made: 16-bit samples from a running server into any player that reads standard input.

python examples/streaming_player.py "Good morning." | aplay -q -f S16_LE -r 24000
"""

import os
import sys
import time

import httpx

url = os.environ.get("POLYVOX_URL", "http://127.0.0.1:8880") + "/v1/audio/speech"
text = " ".join(sys.argv[1:]) or "The first words are heard while the last are still being made."
asked = time.perf_counter()
with httpx.stream(
    "POST", url, json={"input": text, "voice": "af_heart", "response_format": "pcm"}, timeout=60
) as answer:
    answer.raise_for_status()
    for data in answer.iter_raw():
        if asked:
            print(f"first audio after {time.perf_counter() - asked:.3f} s", file=sys.stderr)
            asked = 0.0
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
