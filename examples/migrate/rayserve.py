"""From the CosyVoice Ray Serve API: its five paths, by JSON and by form, streamed and whole.

python examples/migrate/rayserve.py --model_dir pretrained_models/CosyVoice2-0.5B --recording me.wav --words "..."
"""

from functools import partial

from migration import Call, http, parser, report, server

options = parser(__doc__, text="Text to synthesize")
options.add_argument("--model_dir", help="folder of a CosyVoice model, or its repository")
given = options.parse_args()
recording = given.recording.resolve()
serve = ["serve"] if given.model_dir is None else ["serve", "--model_dir", given.model_dir]

# A path in `reference_audio` is read only in folders that the operator lists.
with server(given.url, serve, POLYVOX_RECORDING_DIRS=str(recording.parent)) as (url, _):
    post = partial(http, "POST")
    api = f"{url}/v1/model/cosyvoice"
    path = {"reference_audio": recording.name}
    words = {"reference_text": given.words}
    upload = {"reference_audio": (recording.name, recording.read_bytes())}
    spoken = {"text": given.text, "voice_type": "qwen", "speed": 1.0}
    cloned = {"text": given.text, "speed": 1.0}
    report(
        [
            Call("POST /tts", partial(post, f"{api}/tts", json={**spoken, "stream": False})),
            Call("POST /tts, only a text", partial(post, f"{api}/tts", json={"text": given.text})),
            Call("POST /tts, streamed", partial(post, f"{api}/tts", json={**spoken, "stream": True})),
            Call("POST /zero_shot, a path", partial(post, f"{api}/zero_shot", json={**cloned, **path, **words})),
            Call(
                "POST /zero_shot, a path, streamed",
                partial(post, f"{api}/zero_shot", json={**cloned, **path, **words, "stream": True}),
            ),
            Call(
                "POST /zero_shot, a form",
                partial(post, f"{api}/zero_shot", data={"text": given.text, "stream": "true", **words}, files=upload),
            ),
            Call("POST /cross_lingual, a path", partial(post, f"{api}/cross_lingual", json={**cloned, **path})),
            Call(
                "POST /cross_lingual, streamed",
                partial(post, f"{api}/cross_lingual", json={**cloned, **path, "stream": True}),
            ),
            Call(
                "POST /cross_lingual, a form",
                partial(post, f"{api}/cross_lingual", data={"text": given.text}, files=upload),
            ),
            Call("POST /instruct", partial(post, f"{api}/instruct", json={**spoken, "instruction": "Instruction"})),
            Call("POST /healthcheck", partial(post, f"{api}/healthcheck"), speaks=False),
        ]
    )
