"""From the Streamable TTS API: its curl calls as they are, and its stress test.

python examples/migrate/streamable.py --model_dir models/Multilingual-TTS-1.7B-Base --recording jenny.wav --words "..."
"""

import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from migration import Answer, Call, curl, http, parser, report, server

DOCUMENTED = "http://localhost:9091"
SPEECH = """curl -X POST 'http://localhost:9091/v1/audio/speech' \
  -H 'Content-Type: application/json' \
  -d '{
    "input": "Hello! How can I help you? can I get your passport number sir.",
    "voice": "husein",
    "model": "TTS-model",
    "response_format": "wav",
    "temperature": 0.7,
    "stream": true,
    "playback_speed": 0.5,
    "playback_overlap_speed": 0.1,
    "normalize_malaysian": true
  }' \
  --output output.wav"""
CLONE = """curl -X POST 'http://localhost:9091/v1/audio/vc' \
  -H 'Content-Type: multipart/form-data' \
  --form 'reference_audio=@jenny.wav' \
  --form 'reference_text={words}' \
  --form 'generate_text=Ye encik, apa yang saya boleh tolong?' \
  --form 'model=TTS-model' \
  --form 'response_format=wav' \
  --form 'temperature=0.7' \
  --form 'repetition_penalty=1.15' \
  --form 'max_tokens=3072' \
  --form 'stream=true' \
  --form 'playback_speed=1.5' \
  --form 'playback_overlap_speed=0.2' \
  --output vc.wav"""

options = parser(__doc__)
options.add_argument("--model_dir", help="folder of the language model; NeuCodec's lies beside it or is installed")
options.add_argument("--requests", default="50", help="requests of the stress test")
given = options.parse_args()


def stress(url: str) -> Answer:
    """The stress test: all requests at once, and percentiles of their times. Without the model there is none to run."""
    first = http("POST", f"{url}/v1/audio/speech", json={"model": "TTS-model", "input": "Hello."})
    if first.lacks:
        return first
    command = ["bench", "--url", url, "--model", "TTS-model", "--profile", "slo", "--requests", given.requests]
    done = subprocess.run([sys.executable, "-m", "polyvox", *command], capture_output=True, check=False)  # noqa: S603
    return Answer("OK" if done.returncode == 0 else done.returncode, "text/plain", done.stdout + done.stderr)


serve = ["serve"] if given.model_dir is None else ["serve", "--model_dir", given.model_dir]
with tempfile.TemporaryDirectory() as folder, server(given.url, serve) as (url, _):
    shutil.copyfile(given.recording, Path(folder) / "jenny.wav")
    words = given.words.replace("'", "'\\''")
    speech = f"{url}/v1/audio/speech"
    text = {"input": "Selamat pagi, apa khabar?"}
    report(
        [
            Call("GET /v1/audio/speaker", partial(http, "GET", f"{url}/v1/audio/speaker"), speaks=False),
            Call("curl /v1/audio/speech", partial(curl, SPEECH, DOCUMENTED, url, Path(folder))),
            Call("curl /v1/audio/vc", partial(curl, CLONE.format(words=words), DOCUMENTED, url, Path(folder))),
            Call("POST /v1/audio/speech, its defaults", partial(http, "POST", speech, json=text)),
            Call("POST /v1/audio/speech, not streamed", partial(http, "POST", speech, json={**text, "stream": False})),
            Call("stress test", partial(stress, url), speaks=False),
        ]
    )
