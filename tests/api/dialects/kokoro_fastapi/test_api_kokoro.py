"""Kokoro-FastAPI's extensions: captions, phonemes, mixed voices."""

import base64
import io
import json
import zipfile
from dataclasses import replace

import httpx
import numpy as np
import pytest

from helpers.fakes import PlainToneEngine, ToneEngine, running, tone, tone_service
from helpers.serving import called, decoded_seconds, error_of
from helpers.tables import each_row
from polyvox.api.app import create_app
from polyvox.audio.pcm import to_pcm16

pytestmark = pytest.mark.anyio

CAPTIONED = "/dev/captioned_speech"
COMBINE = "/v1/audio/voices/combine"
WISH = {"input": "One two three.", "response_format": "pcm"}
WORDS = [
    {"word": "One", "start_time": 0.0, "end_time": 0.1},
    {"word": "two", "start_time": 0.1, "end_time": 0.2},
    {"word": "three.", "start_time": 0.2, "end_time": 0.3},
]


async def test_captions_stream_as_one_object_a_line():
    async with called(tone_service()) as client:
        response = await client.post(CAPTIONED, json=WISH)
    assert response.headers["content-type"] == "application/json"
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert [line["timestamps"] for line in lines] == [[word] for word in WORDS]
    assert {line["audio_format"] for line in lines} == {"audio/pcm"}
    audio = b"".join(base64.b64decode(line["audio"]) for line in lines)
    assert audio == to_pcm16(tone(220.0, 0, 7_200, 24_000))


@each_row("audio_format", ["mp3", "opus", "aac", "flac", "webm"])
async def test_no_word_is_lost_when_an_encoder_holds_audio_back(audio_format):
    engine = ToneEngine(chunks=6, chunk_seconds=0.01)
    async with called(tone_service(engine)) as client:
        response = await client.post(CAPTIONED, json={"input": "a b c d e f", "response_format": audio_format})
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert "".join(stamp["word"] for line in lines for stamp in line["timestamps"]) == "abcdef"
    assert all(line["audio"] for line in lines)


@pytest.mark.long
async def test_captions_at_once_hold_a_whole_file():
    async with called(tone_service()) as client:
        response = await client.post(CAPTIONED, json=WISH | {"response_format": "wav", "stream": False})
    body = response.json()
    assert set(body) == {"audio", "audio_format", "timestamps", "timing_source"}
    assert body["timing_source"] == "durations"
    assert body["audio_format"] == "audio/wav"
    assert body["timestamps"] == WORDS
    assert decoded_seconds(base64.b64decode(body["audio"])) == pytest.approx(0.3)
    assert int(response.headers["content-length"]) == len(response.content)
    assert "x-session-id" in response.headers


@each_row("stream", [True, False])
async def test_captions_without_timestamps(stream):
    async with called(tone_service()) as client:
        response = await client.post(CAPTIONED, json=WISH | {"return_timestamps": False, "stream": stream})
    assert all(json.loads(line)["timestamps"] is None for line in response.text.splitlines())


async def test_captions_refuse_what_speech_refuses():
    async with called(tone_service()) as client:
        refused = await client.post(CAPTIONED, json=WISH | {"voice": "nobody"})
    assert refused.status_code == 400
    assert error_of(refused)["param"] == "voice"


async def test_phonemize_shows_the_reading():
    async with called(tone_service()) as client:
        response = await client.post("/dev/phonemize", json={"text": "Hi", "language": "en-GB"})
    assert response.json() == {"phonemes": "hi", "tokens": [104, 105]}


@each_row(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": "a\x00"}, "text"),
        ({"text": "Hi", "language": "?"}, "language"),
        ({"text": "Hi", "model": "nothing"}, "model"),
    ],
)
async def test_phonemize_names_the_field_at_fault(body, field):
    async with called(tone_service()) as client:
        refused = await client.post("/dev/phonemize", json=body)
    assert 400 <= refused.status_code < 500
    assert error_of(refused)["param"] == field


async def test_a_model_without_phonemes_or_mixing_says_so():
    async with called(tone_service(PlainToneEngine())) as client:
        unread = await client.post("/dev/phonemize", json={"text": "Hi"})
        unmixed = await client.post(COMBINE, json="low+high")
    assert (unread.status_code, unmixed.status_code) == (400, 400)
    assert "phonemes" in error_of(unread)["message"]
    assert "mixed" in error_of(unmixed)["message"]


@each_row("voices", ["low+high", ["low", "high"], " low+high "])
async def test_combined_voices_come_as_a_file(voices):
    async with called(tone_service()) as client:
        response = await client.post(COMBINE, json=voices)
    assert response.status_code == 200
    assert response.headers["content-disposition"] == 'attachment; filename="low_high.pt"'
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        values = np.frombuffer(archive.read("archive/data/0"), "<f4")
    assert values.shape == (510 * 256,)
    assert set(values) == {330.0}


@each_row("voices", ["", [], [1], {"voices": "low"}, 5, "low+" * 500])
async def test_what_is_no_mix_is_refused(voices):
    async with called(tone_service()) as client:
        refused = await client.post(COMBINE, json=voices)
    assert refused.status_code == 400
    assert "af_heart(2)+bf_emma(1)" in error_of(refused)["message"]


async def test_an_unknown_voice_in_a_mix_is_named():
    async with called(tone_service()) as client:
        refused = await client.post(COMBINE, json=["low", "nobody"])
    assert refused.status_code == 400
    assert "nobody" in error_of(refused)["message"]


async def test_combining_can_be_forbidden():
    async with called(tone_service(allow_voice_download=False)) as client:
        refused = await client.post(COMBINE, json="low+high")
    assert refused.status_code == 403
    assert error_of(refused)["type"] == "permission_error"


class LaxMixer(ToneEngine):
    """Mixes whatever it is asked for, so that only the door stands between a caller and the file's name."""

    def mixed_voice(self, expression):
        return np.zeros((510, 1, 256), np.float32)


async def test_a_file_name_holds_nothing_that_a_shell_or_a_header_minds():
    async with called(tone_service(LaxMixer())) as client:
        response = await client.post(COMBINE, json='a"; rm -rf ../x\r\nSet-Cookie: y=1')
    assert response.headers["content-disposition"] == 'attachment; filename="a_rm_-rf_.._x_Set-Cookie_y_1.pt"'
    assert "set-cookie" not in response.headers


SSML = "<speak>One <mark name='m'/>two.<break time='1s'/><voice name='high'>Three.</voice></speak>"


async def test_ssml_is_spoken_with_the_times_of_its_marks():
    async with called(tone_service()) as client:
        whole = await client.post(CAPTIONED, json=WISH | {"input": SSML, "ssml": True, "stream": False})
        lines = await client.post(CAPTIONED, json=WISH | {"input": SSML})
    body = whole.json()
    assert body["marks"] == [{"name": "m", "time": body["timestamps"][1]["start_time"]}]
    assert [(word["word"], word["voice"]) for word in body["timestamps"]] == [
        ("One", "low"),
        ("two.", "low"),
        ("Three.", "high"),
    ]
    streamed = [json.loads(line) for line in lines.text.splitlines()]
    assert [mark for line in streamed for mark in line.get("marks", [])] == body["marks"]


async def test_bad_ssml_is_a_400_with_its_place():
    async with called(tone_service()) as client:
        refused = await client.post("/v1/audio/speech", json={"input": "<speak>\nOne & two</speak>", "ssml": True})
        translated = await client.post("/dev/ssml", json={"text": "<speak><p></speak>"})
        bomb = {"input": "<!DOCTYPE s [<!ENTITY a 'b'>]><speak>&a;</speak>", "ssml": True}
        bombed = await client.post("/v1/audio/speech", json=bomb)
    assert (refused.status_code, error_of(refused)["code"]) == (400, "invalid_markup")
    assert "line 2, column 6" in error_of(refused)["message"]
    assert (translated.status_code, error_of(translated)["param"]) == (400, "text")
    assert bombed.status_code == 400
    assert "document type" in error_of(bombed)["message"]


async def test_ssml_is_translated_to_tags_and_described():
    async with called(tone_service()) as client:
        slow, other = "<prosody rate='slow'>two</prosody>", "<voice name='high'>x</voice>"
        text = f"<speak>One<break time='500ms'/>{slow}{other}y<hr/></speak>"
        translated = await client.post("/dev/ssml", json={"text": text, "voice": "low"})
        nobody = await client.post("/dev/ssml", json={"text": text})
        support = (await client.get("/dev/ssml")).json()
    tagged = "One [pause:0.5s] [rate:0.75] two [voice:high] x [voice:low] y"
    assert translated.json() == {"text": tagged}
    assert nobody.json() == {"text": tagged.replace("[voice:low]", "[voice:]")}
    assert translated.headers["x-polyvox-warning"] == "dropped-markup: <hr>"
    assert {"speak", "break", "prosody", "say-as"} <= set(support["elements"])
    assert support["break_strengths"]["none"] == 0.0


async def test_ssml_can_be_switched_off():
    async with called(tone_service(allow_ssml=False)) as client:
        answers = [await client.get("/dev/ssml"), await client.post("/dev/ssml", json={"text": SSML})]
        answers.append(await client.post("/v1/audio/speech", json={"input": SSML, "ssml": True}))
        spoken = await client.post("/v1/audio/speech", json={"input": SSML})
    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert spoken.status_code == 200
    assert spoken.headers["x-polyvox-warning"].startswith("dropped-markup: <speak>, <mark name='m'/>")


async def test_voice_tags_can_be_switched_off():
    async with called(tone_service(refuse_voice_tags=True, allow_voice_tags=True)) as client:
        wish = {"input": "One. [voice:high] Two.", "voice": "low", "response_format": "pcm"}
        asked = await client.post("/v1/audio/speech", json=wish | {"allow_voice_tags": True})
        dialogue = await client.post("/dev/dialogue", json={"turns": [{"voice": "low", "text": "One."}]})
        spoken = await client.post("/v1/audio/speech", json=wish)
    assert [asked.status_code, dialogue.status_code] == [403, 403]
    assert "refuse_voice_tags" in asked.json()["error"]["message"]
    assert spoken.headers["x-polyvox-warning"] == "dropped-markup: [voice:high]"


async def test_a_dialogue_by_kokoro_fastapis_names():
    turns = [{"voice": "low", "text": "One."}, {"voice": "high", "text": "Two."}]
    async with called(tone_service()) as client:
        wish = {"turns": turns, "pause_between_turns": 20, "response_format": "pcm"}
        spoken = await client.post("/dev/dialogue", json=wish)
        refused = await client.post("/dev/dialogue", json=wish | {"pause_between_turns": 61})
    assert len(spoken.content) / 48_000 == pytest.approx(0.3 + 20 + 0.3)
    assert refused.status_code == 400


async def test_a_dialogue_takes_elevenlabs_names_aliases_and_links():
    engine = ToneEngine()
    turns = [{"voice_id": "narrator", "text": "One."}, {"voice_id": "Low", "text": "Two."}]
    aliases = {"narrator": {"voice": "high", "rate": 0.5}, "low": "low"}
    wish = {"inputs": turns, "voice_aliases": aliases, "response_format": "pcm", "return_download_link": True}
    async with called(tone_service(engine)) as client:
        spoken = await client.post("/dev/dialogue", json=wish | {"return_timing": True})
        times = (await client.get(f"/v1{spoken.headers['x-timing-path']}")).json()
        unknown = await client.post("/dev/dialogue", json=wish | {"voice_aliases": {"narrator": "nobody"}})
        refused = [
            await client.post("/dev/dialogue", json=wish | wrong)
            for wrong in ({"voice_aliases": {"narrator": " "}}, {"voice_aliases": {"n": "low]"}}, {"inputs": 5})
        ]
    assert [(one.voice, one.speed) for one in engine.heard] == [("high", 0.5), ("low", 1.0)]
    assert len(spoken.content) / 48_000 == pytest.approx(0.6 + 0.3), "without a pause, as there"
    assert [chunk.get("voice") for chunk in times["chunks"] if chunk["text"]] == ["high", "low"]
    assert (unknown.status_code, error_of(unknown)["param"]) == (400, "turns[0].voice")
    assert [answer.status_code for answer in refused] == [400] * 3


async def test_a_model_without_its_own_pace_says_that_rates_of_aliases_are_ignored():
    wish = {"turns": [{"voice": "slow", "text": "One."}], "voice_aliases": {"slow": {"voice": "low", "rate": 0.5}}}
    async with called(tone_service(PlainToneEngine(native_speed=False))) as client:
        spoken = await client.post("/dev/dialogue", json=wish)
    assert "one pace" in spoken.headers["x-polyvox-warning"]


async def test_words_have_a_voice_where_voice_tags_are_asked_for():
    async with called(tone_service()) as client:
        for more in ({"stream": False}, {"stream": True}):
            tagged = await client.post(CAPTIONED, json=WISH | {"voice": "high", "allow_voice_tags": True} | more)
            words = [word for line in tagged.text.splitlines() for word in json.loads(line)["timestamps"]]
            assert [word["voice"] for word in words] == ["high"] * 3
        times = await client.post("/dev/timestamp", json=WISH | {"allow_voice_tags": True})
    assert [word["voice"] for word in times.json()["timestamps"]] == ["low"] * 3


async def test_voices_by_name_are_exact_or_refused():
    aliases = {"voice_aliases": {"Bob": "low", "bob": "high"}, "allow_voice_tags": True}
    engine = ToneEngine()
    async with called(tone_service(engine)) as client:
        for voice in ("bob", "Bob"):
            await client.post("/v1/audio/speech", json={"input": "One.", "voice": voice} | aliases)
        unknown = await client.post("/v1/audio/speech", json={"input": "[voice:nobody] One."} | aliases)
        listed, legacy = [(await client.get(f"/v1/audio/voices{at}")).json() for at in ("", "?legacy=true")]
    assert [one.voice for one in engine.heard] == ["high", "low"]
    assert (unknown.status_code, "nobody" in error_of(unknown)["message"]) == (400, True)
    assert listed["default_voice"] == "low"
    assert legacy == {"voices": ["low", "high"]}


class ReadingEngine(ToneEngine):
    """A tone engine whose frontend reads markup and phonemes."""

    def __init__(self) -> None:
        super().__init__()
        self._capabilities = replace(self._capabilities, reads_markup=True, phonemes=True)


async def test_phonemes_are_spoken_as_inline_phonemes():
    engine = ReadingEngine()
    path = "/dev/generate_from_phonemes"
    async with called(tone_service(engine)) as client:
        spoken = await client.post(path, json={"phonemes": "həlˈO, (w/ˈɜɹld]).", "voice": "high"})
        long = await client.post(path, json={"phonemes": "a" * 500})
        empty = await client.post(path, json={"phonemes": ""})
    assert spoken.status_code == 200, spoken.text
    assert spoken.content[:4] == b"RIFF"
    assert spoken.headers["content-disposition"] == "attachment; filename=speech.wav"
    assert [(one.text, one.voice) for one in engine.heard[:1]] == [("[həlˈO](/həlˈO/), [wˈɜɹld](/wˈɜɹld/).", "high")]
    assert long.status_code == 200
    assert engine.heard[1].text.count("](/") == 3
    assert empty.status_code == 400
    async with called(tone_service()) as client:
        refused = await client.post(path, json={"phonemes": "a"})
    assert (refused.status_code, error_of(refused)["param"]) == (400, "model")


async def test_times_without_audio():
    async with called(tone_service()) as client:
        answer = await client.post("/dev/timestamp", json=WISH)
        assert (await client.get("/v1/test")).json() == {"status": "ok"}
    assert answer.json() == {"timestamps": WORDS, "timing_source": "durations"}


async def test_debug_pages_answer_only_where_they_are_enabled():
    paths = ("/debug/threads", "/debug/storage", "/debug/system")
    async with called(tone_service()) as client:
        assert [(await client.get(path)).status_code for path in paths] == [403] * 3
    async with called(tone_service(enable_debug=True)) as client:
        threads, storage, system = [(await client.get(path)).json() for path in paths]
    assert threads["total_threads"] == len(threads["threads"]) > 0
    assert storage["models"]["free"] > 0
    assert system["models"] == {"tone": True}


async def test_numbers_and_booleans_may_be_written_as_text():
    engine = ToneEngine()
    wish = {"input": "One.", "speed": "2.0", "stream": "false", "volume_multiplier": 1, "seed": "7"}
    async with called(tone_service(engine)) as client:
        spoken = await client.post("/v1/audio/speech", json=wish | {"normalization_options": {"normalize": "no"}})
        refused = [
            await client.post("/v1/audio/speech", json=wish | wrong)
            for wrong in ({"speed": "nan"}, {"speed": "1e999"}, {"speed": "\u0662"}, {"stream": "maybe"}, {"stream": 2})
        ]
    assert spoken.status_code == 200, spoken.text
    assert "content-length" in spoken.headers
    assert spoken.headers["content-disposition"] == "attachment; filename=speech.mp3"
    (heard,) = engine.heard
    assert (heard.speed, heard.seed, heard.normalization.normalize) == (2.0, 7, False)
    assert [answer.status_code for answer in refused] == [400] * 5


async def test_openais_voice_names_stand_for_voices_of_a_setting():
    engine = ToneEngine()
    settings = {"openai_voices": ["alloy=high", "echo=low"], "voice_aliases": ["echo=high"]}
    async with called(tone_service(engine, **settings)) as client:
        for voice in ("alloy", "echo"):
            assert (await client.post("/v1/audio/speech", json={"input": "One.", "voice": voice})).status_code == 200
    assert [one.voice for one in engine.heard] == ["high", "high"]


async def test_normalization_options_that_are_not_known_are_named_in_a_warning():
    options = {"remove_emoji": True, "caps_normalization": False, "unit_normalization": False}
    async with called(tone_service()) as client:
        spoken = await client.post("/v1/audio/speech", json={"input": "One.", "normalization_options": options})
        silent = await client.post("/v1/audio/speech", json={"input": "One.", "normalization_options": {}})
    warning = spoken.headers["x-polyvox-warning"]
    assert all(f"{name!r} is not known" in warning for name in ("remove_emoji", "caps_normalization"))
    assert "unit_normalization" not in warning
    assert "x-polyvox-warning" not in silent.headers


class TestDownloads:
    SPEECH = "/v1/audio/speech"

    @each_row("stream", [True, False])
    async def test_a_finished_file_can_be_fetched_again_with_its_times(self, stream):
        wish = {"input": "One two three.", "return_download_link": True, "return_timing": True, "stream": stream}
        async with called(tone_service()) as client:
            spoken = await client.post(self.SPEECH, json=wish)
            path, timing = (spoken.headers[name] for name in ("x-download-path", "x-timing-path"))
            again = await client.get(f"/v1{path}", params={"name": '../../my tide<x>".mp3'})
            odd = await client.get(f"/v1{path}", params={"name": "a\r\nX-Evil: 1"})
            times = (await client.get(f"/v1{timing}")).json()
        assert odd.status_code == 400
        assert again.content == spoken.content
        assert again.headers["content-type"] == "audio/mpeg"
        assert again.headers["content-disposition"] == 'attachment; filename="my_tide_x.mp3"'
        assert timing == f"{path}.json"
        assert [chunk["text"] for chunk in times["chunks"]] == ["One", "two", "three."]
        assert {"start": 0.1, "end": 0.2, "start_time": 0.1, "end_time": 0.2}.items() <= times["chunks"][1].items()
        assert times["chunks"][2]["words"][0] == {"word": "three.", "start_time": 0.2, "end_time": 0.3}

    @each_row("stream", [True, False])
    async def test_captioned_speech_can_be_fetched_again(self, stream):
        wish = {"input": "One two three.", "return_download_link": True, "stream": stream}
        async with called(tone_service()) as client:
            spoken = await client.post("/dev/captioned_speech", json=wish)
            again = await client.get(f"/v1{spoken.headers['x-download-path']}")
        audio = b"".join(base64.b64decode(json.loads(line)["audio"]) for line in spoken.text.splitlines())
        assert again.headers["content-type"] == "audio/mpeg"
        assert again.content == audio

    async def test_captioned_speech_has_no_link_where_there_are_none(self):
        async with called(tone_service(max_downloads=0)) as client:
            wish = {"input": "One.", "return_download_link": True}
            assert (await client.post("/dev/captioned_speech", json=wish)).status_code == 403

    async def test_pauses_and_voices_stand_in_the_times(self):
        wish = {"input": "One two three. [pause:5s] [voice:high] Four.", "return_download_link": True}
        wish |= {"return_timing": True, "allow_voice_tags": True, "voice": "low"}
        async with called(tone_service()) as client:
            spoken = await client.post(self.SPEECH, json=wish)
            times = (await client.get(f"/v1{spoken.headers['x-timing-path']}")).json()
        voices = [(chunk["text"], chunk.get("voice")) for chunk in times["chunks"]]
        assert voices == [("One", "low"), ("two", "low"), ("three.", "low"), ("", None), ("Four.", "high")]
        (pause,) = (chunk for chunk in times["chunks"] if not chunk["text"])
        assert (pause["start"], pause["end"]) == (pytest.approx(0.3, abs=0.01), pytest.approx(5.3))

    async def test_a_name_to_save_by_is_made_safe(self):
        names = {"report.wav": "report", "../../etc/passwd": "etc_passwd", 'bad";name': "bad_name", "...": "speech"}
        names |= {"af_bella+af_sky": "af_bella_af_sky", "x" * 200: "x" * 100}
        async with called(tone_service()) as client:
            spoken = await client.post(self.SPEECH, json={"input": "One.", "return_download_link": True})
            for name, stem in names.items():
                again = await client.get(f"/v1{spoken.headers['x-download-path']}", params={"name": name})
                assert again.headers["content-disposition"] == f'attachment; filename="{stem}.mp3"'

    async def test_only_the_key_that_asked_may_fetch_it(self):
        service = tone_service(api_keys=["anna", "bert"])
        wish = {"input": "One.", "return_download_link": True}
        async with called(service) as client:
            spoken = await client.post(self.SPEECH, json=wish, headers={"Authorization": "Bearer anna"})
            path = f"/v1{spoken.headers['x-download-path']}"
            answers = {
                key: (await client.get(path, headers={"Authorization": f"Bearer {key}"})).status_code
                for key in ("anna", "bert", "carl")
            }
        assert answers == {"anna": 200, "bert": 404, "carl": 401}
        assert len(path.rpartition("/")[2]) >= 32

    @each_row("name", ["nothing.mp3", "..%2f..%2fetc%2fpasswd", "%00", "a" * 5_000])
    async def test_no_other_file_is_found(self, name):
        async with called(tone_service()) as client:
            assert (await client.get(f"/v1/download/{name}")).status_code == 404

    async def test_links_can_be_switched_off(self):
        async with called(tone_service(max_downloads=0)) as client:
            refused = await client.post(self.SPEECH, json={"input": "One.", "return_download_link": True})
        assert refused.status_code == 403

    async def test_speech_that_fails_leaves_no_file(self):
        service = tone_service(ToneEngine(fail_at=1))
        app = create_app(service)
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with running(service), httpx.AsyncClient(transport=transport, base_url="http://door") as client:
            wish = {"input": "One.", "return_download_link": True, "response_format": "pcm"}
            broken = await client.post(self.SPEECH, json=wish)
            assert (await client.get(f"/v1{broken.headers['x-download-path']}")).status_code == 404
        assert app.state.downloads.used_bytes == 0
