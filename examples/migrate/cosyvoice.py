"""From CosyVoice's own servers: FastAPI by GET and POST, gRPC, and the Rust server.

python examples/migrate/cosyvoice.py --model_dir pretrained_models/Fun-CosyVoice3-0.5B --recording me.wav --words "..."

Needs grpcio: pip install '.[grpc]' in a checkout.
"""

import base64
from functools import partial

import grpc
import numpy as np
from migration import TIMEOUT, Answer, Call, http, parser, report, server

from polyvox.api.dialects.grpc.schema import message_type
from polyvox.audio.decode import decode
from polyvox.audio.pcm import to_pcm16
from polyvox.audio.resample import resampled

INSTRUCTION = "Please speak very fast.<|endofprompt|>"

options = parser(__doc__, text="A text to speak in the voice of the recording.")
options.add_argument("--model_dir", help="folder of a CosyVoice model, or its repository")
options.add_argument("--grpc", default="", help="with --url: the address for gRPC, such as 127.0.0.1:50000")
given = options.parse_args()
data = given.recording.read_bytes()


def inference(url: str, mode: str, method: str, **fields: str) -> Answer:
    """A request as CosyVoice's client makes it: a form, the recording as file `prompt_wav`."""
    files = {"prompt_wav": ("prompt_wav", data, "application/octet-stream")}
    return http(method, f"{url}/inference_{mode}", data={"tts_text": given.text, **fields}, files=files)


def samples_16k() -> bytes:
    """The recording as gRPC clients send it: 16-bit samples at 16 kHz, the floats times 2^15."""
    pcm, rate = decode(data, max_seconds=60, max_samples=10_000_000)
    mono = pcm if pcm.ndim == 1 else pcm.mean(axis=1)
    return to_pcm16(resampled(np.ascontiguousarray(mono, np.float32), rate, 16_000))


def grpc_inference(address: str, kind: str, **fields: object) -> Answer:
    request = message_type("cosyvoice.Request")
    payload = {
        "zero_shot_request": "zeroshotRequest",
        "cross_lingual_request": "crosslingualRequest",
        "instruct_request": "instructRequest",
    }[kind]
    wish = request(**{kind: message_type(f"cosyvoice.{payload}")(tts_text=given.text, **fields)})
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_stream(
            "/cosyvoice.CosyVoice/Inference",
            request_serializer=request.SerializeToString,
            response_deserializer=message_type("cosyvoice.Response").FromString,
        )
        answers = call(wish, timeout=TIMEOUT)
        try:
            audio = b"".join(answer.tts_audio for answer in answers)
        except grpc.RpcError as error:
            return Answer(error.code().name, "", (error.details() or "").encode())
        rate = int(dict(answers.initial_metadata())["x-audio-sample-rate"])
        return Answer("OK", "audio/pcm", audio, rate)


serve = ["serve", "--grpc-port", "0", "--max_conc", "4"]
serve += [] if given.model_dir is None else ["--model_dir", given.model_dir]
with server(given.url, serve) as (url, started):
    address = given.grpc or started
    skip = "" if address else "give its address with --grpc"
    fields = {
        "zero_shot": {"prompt_text": given.words},
        "cross_lingual": {},
        "instruct2": {"instruct_text": INSTRUCTION},
    }
    calls = [
        Call(f"{method} /inference_{mode}", partial(inference, url, mode, method, **fields[mode]))
        for mode in fields
        for method in ("GET", "POST")
    ]
    recording = {"prompt_audio": samples_16k()}
    rust = {"text": given.text, "prompt_audio": base64.b64encode(data).decode()}
    report(
        [
            *calls,
            Call("GET /health", partial(http, "GET", f"{url}/health"), speaks=False),
            Call(
                "gRPC zero_shot_request",
                partial(grpc_inference, address, "zero_shot_request", prompt_text=given.words, **recording),
                skip=skip,
            ),
            Call(
                "gRPC cross_lingual_request",
                partial(grpc_inference, address, "cross_lingual_request", **recording),
                skip=skip,
            ),
            Call(
                "gRPC instruct_request",
                partial(grpc_inference, address, "instruct_request", instruct_text=INSTRUCTION, **recording),
                skip=skip,
            ),
            Call(
                "POST /synthesize, zero shot",
                partial(http, "POST", f"{url}/synthesize", json={**rust, "prompt_text": given.words}),
            ),
            Call(
                "POST /synthesize, instructed",
                partial(http, "POST", f"{url}/synthesize", json={**rust, "speaker": INSTRUCTION}),
            ),
            Call("GET /speakers", partial(http, "GET", f"{url}/speakers"), speaks=False),
        ]
    )
