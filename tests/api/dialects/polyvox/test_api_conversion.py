"""The door for voice conversion: a recording and a voice in, speech out."""

import base64
from dataclasses import replace

import pytest

from helpers.cloning import CloneEngine, sample, studio_client
from helpers.serving import decoded_seconds, error_of
from polyvox.errors import PromptError
from polyvox.service.kinds.convert import ConvertRecording
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio

DOOR = "/v1/audio/conversion"


class Impersonator(CloneEngine):
    """Hums for as long as the recording lasts."""

    def __init__(self, **options):
        super().__init__(**options)
        self.sources = []

    @property
    def capabilities(self):
        return replace(super().capabilities, conversion=True, wordless=True)

    def check(self, utterance):
        super().check(replace(utterance, text="a"))

    async def convert(self, source, utterance):
        assert utterance.text == ""
        self.sources.append(source)
        if source.digest == self.refused:
            raise PromptError("The recording will not do.", field="file")
        chunks = int(len(source.pcm) / source.sample_rate / self.chunk_seconds)
        for index in range(chunks):
            yield self._chunk(replace(utterance, voice="low"), index, [], 0.0)

    refused = ""


@pytest.fixture
async def studio(tmp_path):
    async with studio_client(tmp_path, Impersonator()) as (studio, client):
        studio.client = client
        yield studio


def recording(seed=1):
    return {"file": ("talk.wav", sample(seed))}


async def test_a_recording_is_said_in_a_voice_of_the_models(studio):
    answer = await studio.client.post(DOOR, data={"voice": "high", "response_format": "wav"}, files=recording())
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "audio/wav"
    assert decoded_seconds(answer.content) == pytest.approx(1.0, abs=0.05)
    (source,) = studio.engine.sources
    assert (len(source.pcm), source.sample_rate, source.transcript) == (24_000, 24_000, "")
    assert studio.transcriber.heard == 0


async def test_a_recording_is_said_in_a_registered_voice_and_in_one_that_comes_along(studio):
    made = await studio.client.post(
        "/v1/voices", data={"name": "anna", "transcript": "Hi."}, files={"audio": ("a.wav", sample(2))}
    )
    inline = "base64+" + base64.b64encode(sample(3)).decode()
    for voice in (made.json()["id"], "anna", inline):
        answer = await studio.client.post(DOOR, data={"voice": voice, "response_format": "pcm"}, files=recording())
        assert answer.status_code == 200, answer.text
        assert len(answer.content) == 48_000
    assert [prompt.transcript for prompt in studio.engine.prepared] == ["Hi.", ""]


async def test_speed_and_a_whole_file_are_as_for_speech(studio):
    data = {"voice": "low", "response_format": "wav", "stream": "false", "speed": "2"}
    answer = await studio.client.post(DOOR, data=data, files=recording())
    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert 0.4 < decoded_seconds(answer.content) < 1.1


@pytest.mark.parametrize(
    ("data", "files", "status", "param"),
    [
        ({"voice": "low"}, {}, 400, "file"),
        ({"voice": "low"}, {"file": ("a.wav", b"no recording")}, 400, "file"),
        ({"voice": "low"}, {"file": ("a.wav", b"seed 1" + bytes(3000))}, 400, "file"),
        ({"voice": "low"}, {"audio": ("a.wav", sample(1))}, 400, "file"),
        ({}, {"file": ("a.wav", sample(1))}, 400, "voice"),
        ({"voice": " "}, {"file": ("a.wav", sample(1))}, 400, "voice"),
        ({"voice": "nobody"}, {"file": ("a.wav", sample(1))}, 400, "voice"),
        ({"voice": "low", "speed": "9"}, {"file": ("a.wav", sample(1))}, 400, "speed"),
        ({"voice": "low", "response_format": "au"}, {"file": ("a.wav", sample(1))}, 400, "response_format"),
        ({"voice": "low", "model": "nothing"}, {"file": ("a.wav", sample(1))}, 404, "model"),
    ],
)
async def test_bad_requests_name_the_field(studio, data, files, status, param):
    studio.intake.take = refusing(studio.intake.take)
    answer = await studio.client.post(DOOR, data=data, files=files or {"ignored": (None, "x")})
    assert answer.status_code == status, answer.text
    assert error_of(answer)["param"] == param


def refusing(take):
    """An intake that finds recordings of some kilobytes too long, as the real one does by their seconds."""

    async def checked(data, limits):
        if len(data) > 2000:
            raise PromptError("The recording has 31.0 seconds from its first word to its last; send less.")
        return await take(data, limits)

    return checked


async def test_what_the_engine_says_of_the_recording_is_the_answer(studio):
    await studio.client.post(DOOR, data={"voice": "low"}, files=recording())
    studio.engine.refused = studio.engine.sources[0].digest
    answer = await studio.client.post(DOOR, data={"voice": "low"}, files=recording())
    assert answer.status_code == 400
    assert error_of(answer)["param"] == "file"


async def test_a_model_that_cannot_is_refused_before_a_voice_is_prepared(tmp_path):
    inline = "base64+" + base64.b64encode(sample(3)).decode()
    async with studio_client(tmp_path, CloneEngine()) as (studio, client):
        answer = await client.post(DOOR, data={"voice": inline}, files=recording())
        assert answer.status_code == 400
        assert "cannot convert" in error_of(answer)["message"]
        assert studio.intake.taken == 0


async def test_the_models_say_who_can(studio):
    listed = (await studio.client.get("/v1/models")).json()["data"]
    assert [model["capabilities"]["conversion"] for model in listed if model["id"] == model["root"]] == [True]


async def test_pages_of_other_origins_may_not_send_it(studio):
    answer = await studio.client.post(
        DOOR, data={"voice": "low"}, files=recording(), headers={"origin": "https://elsewhere.example"}
    )
    assert answer.status_code == 403


def test_an_engine_gone_astray_is_stopped_by_the_length_of_what_it_was_given():
    async def never():
        raise AssertionError

    assert ConvertRecording(never, 30.0, 0.5).max_audio_seconds == 120.0
    assert ConvertRecording(never, 30.0, 2.0).chars == 0
    with pytest.raises(Exception, match="cannot convert"):
        ConvertRecording(never, 30.0).check(CloneEngine(), Utterance("", "low"))
