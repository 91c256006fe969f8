"""A CosyVoice 1 folder as its loader expects it: checked before it is served, and the same chunks every time.

python examples/migrate/cosyvoice_bundle.py --model_dir pretrained_models/CosyVoice-300M-SFT --recording me.wav

The folder holds cosyvoice.yaml, campplus.onnx, speech_tokenizer_v1.onnx, spk2info.pt, and llm, flow and hift.
"""

import base64
import json
import subprocess
import sys
from functools import partial

from migration import Answer, Call, http, parser, report, server

options = parser(__doc__, text="A text to speak, long enough for some chunks of sound.")
options.add_argument("--model_dir", required=True, help="folder of a CosyVoice model")
given = options.parse_args()
data = given.recording.read_bytes()


def check() -> Answer:
    """The folder's files, before anything is loaded: an error names the file."""
    command = [sys.executable, "-m", "polyvox", "models", "check", given.model_dir]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    return Answer("OK" if done.returncode == 0 else done.returncode, "text/plain", done.stdout + done.stderr)


def zero_shot(url: str) -> Answer:
    form = {"tts_text": given.text, "prompt_text": given.words}
    return http("POST", f"{url}/inference_zero_shot", data=form, files={"prompt_wav": ("prompt_wav", data)})


def speaker(url: str) -> Answer:
    """The first speaker of spk2info.pt."""
    name = json.loads(http("GET", f"{url}/speakers").body)[0]
    return http("POST", f"{url}/inference_sft", data={"tts_text": given.text, "spk_id": name})


def chunks(url: str) -> tuple[bytes, list[tuple[object, ...]]]:
    """The samples at 24 kHz, and the ranges and hash of each chunk."""
    wish = {
        "input": given.text,
        "voice": f"base64+{base64.b64encode(data).decode()}",
        "prompt_text": given.words,
        "seed": 1,
    }
    wish |= {"response_format": "pcm", "sample_rate": 24_000, "stream_format": "sse"}
    told = http("POST", f"{url}/v1/audio/speech", json=wish, headers={"X-Polyvox-Chunks": "1"})
    lines = told.body.decode().split("\n\n")
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line]
    if "error" in events[-1] or told.status != 200:
        raise SystemExit(told.body.decode())
    deltas = [event for event in events if "chunk" in event]
    audio = b"".join(base64.b64decode(delta["audio"]) for delta in deltas)
    names = ("samples", "tokens", "frames", "sha256")
    return audio, [tuple(map(str, (delta["chunk"][name] for name in names))) for delta in deltas]


def same_twice(url: str) -> Answer:
    """One request made twice: boundaries and hashes are the same."""
    audio, first = chunks(url)
    _, second = chunks(url)
    if first != second:
        return Answer("differs", "text/plain", f"{first}\n{second}".encode())
    for number, (samples, tokens, frames, digest) in enumerate(first):
        print(f"    chunk {number}: samples {samples}, tokens {tokens}, frames {frames}, sha256 {digest[:16]}...")
    return Answer("OK", "audio/pcm", audio)


with server(given.url, ["serve", "--model_dir", given.model_dir]) as (url, _):
    report(
        [
            Call("polyvox models check", check, speaks=False),
            Call("POST /inference_sft, spk2info.pt", partial(speaker, url)),
            Call("POST /inference_zero_shot", partial(zero_shot, url)),
            Call("same seed twice, 24 kHz PCM16LE", partial(same_twice, url)),
        ]
    )
