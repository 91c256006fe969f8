"""From a FastAPI server with Kokoro and ZipVoice: voices, its four ways to name one, and Kokoro beside it.

python examples/migrate/zipvoice.py --recording sample.wav --words "This is my voice sample."

Needs both models: polyvox pull zipvoice && polyvox pull kokoro.
"""

import asyncio
import base64
import shutil
import tempfile
from functools import partial
from pathlib import Path

import httpx
from migration import TIMEOUT, Answer, Call, curl, http, parser, report, server

DOCUMENTED = "http://localhost:8880"
REGISTER = """curl -X POST "http://localhost:8880/v1/zipvoice/voices/register" \
  -F "name=my_voice" \
  -F "transcription={words}" \
  -F "audio_file=@sample.wav" """
SPEECH = """curl -X POST "http://localhost:8880/v1/zipvoice/audio/speech" \
  -H "Content-Type: application/json" \
  -d '{
    "model": "zipvoice",
    "input": "Hello, world!",
    "voice": "my_voice",
    "prompt_text": "This is my voice sample."
  }' --output output.mp3"""
BY_URL = """curl -X POST "http://localhost:8880/v1/zipvoice/audio/speech" \
  -H "Content-Type: application/json" \
  -d '{
    "model": "zipvoice",
    "input": "Hello!",
    "voice": "url+https://example.com/voice.wav",
    "prompt_text": "Transcription here."
  }'"""
VARIABLES = {
    "enable_kokoro": "true",
    "enable_zipvoice": "true",
    "default_backend": "kokoro",
    "zipvoice_model": "zipvoice",
    "zipvoice_num_steps": "8",
    "zipvoice_remove_long_silence": "true",
    "zipvoice_speed_multiplier": "1.0",
    "zipvoice_allow_url_download": "true",
    "zipvoice_allow_base64": "true",
    "zipvoice_max_download_size_mb": "10.0",
}

options = parser(__doc__)
options.add_argument("--voice_url", help="https address of a recording, for the call that names one")
given = options.parse_args()
data = given.recording.read_bytes()


async def python_client(url: str) -> Answer:
    """The document's Python client."""
    async with httpx.AsyncClient(timeout=TIMEOUT) as client:
        response = await client.post(
            f"{url}/v1/zipvoice/audio/speech",
            json={"model": "zipvoice", "input": "Test speech", "voice": "my_voice", "prompt_text": "Sample."},
        )
    return Answer(response.status_code, response.headers["Content-Type"], response.content)


with tempfile.TemporaryDirectory() as folder, server(given.url, ["serve"], **VARIABLES) as (url, _):
    files = Path(folder)
    shutil.copyfile(given.recording, files / "sample.wav")
    speech, voices = f"{url}/v1/zipvoice/audio/speech", f"{url}/v1/zipvoice/voices"
    wish = {"model": "zipvoice", "input": "Hello!", "prompt_text": given.words}
    by_url = BY_URL if given.voice_url is None else BY_URL.replace("https://example.com/voice.wav", given.voice_url)
    inline = f"base64+{base64.b64encode(data).decode()}"
    upload = {"prompt_wav_file": ("sample.wav", data)}
    report(
        [
            Call(
                "curl voices/register",
                partial(curl, REGISTER.format(words=given.words), DOCUMENTED, url, files),
                speaks=False,
            ),
            Call("curl audio/speech", partial(curl, SPEECH, DOCUMENTED, url, files)),
            Call(
                "curl audio/speech, url+",
                partial(curl, by_url, DOCUMENTED, url, files),
                skip="" if given.voice_url else "give a recording's address with --voice_url",
            ),
            Call("Python client", lambda: asyncio.run(python_client(url))),
            Call("audio/speech, base64+", partial(http, "POST", speech, json={**wish, "voice": inline})),
            Call(
                "audio/speech, file+",
                partial(http, "POST", speech, data={**wish, "voice": "file+sample"}, files=upload),
            ),
            Call(
                "audio/speech, its parameters",
                partial(
                    http,
                    "POST",
                    speech,
                    json={**wish, "voice": "my_voice", "num_steps": 4, "remove_long_silence": True, "max_duration": 10},
                ),
            ),
            Call(
                "audio/speech, not streamed",
                partial(http, "POST", speech, json={**wish, "voice": "my_voice", "stream": False, "speed": 1.2}),
            ),
            Call(
                "v1/audio/speech, Kokoro",
                partial(http, "POST", f"{url}/v1/audio/speech", json={"input": "Hello!", "voice": "af_heart"}),
            ),
            Call("GET voices", partial(http, "GET", voices), speaks=False),
            Call("GET voices/my_voice", partial(http, "GET", f"{voices}/my_voice"), speaks=False),
            Call("DELETE voices/my_voice", partial(http, "DELETE", f"{voices}/my_voice"), speaks=False),
            Call("POST voices/cache/clear", partial(http, "POST", f"{voices}/cache/clear"), speaks=False),
        ]
    )
