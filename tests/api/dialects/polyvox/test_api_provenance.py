"""Marks and manifests of answers, through the doors."""

import io
import re
import wave
from contextlib import aclosing
from dataclasses import replace

import httpx
import pytest

from helpers.fakes import ToneEngine, running, tone_service
from helpers.serving import called, error_of
from polyvox.audio.encode import AudioFormat
from polyvox.audio.wav_tags import read_wav_tags
from polyvox.provenance.manifest import DATA_BLOCK, SignedManifest
from polyvox.provenance.marks import SYNTHETIC, Marks
from polyvox.provenance.signing_key import SigningKey
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.encoding import encoded
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Capabilities, Utterance

pytestmark = pytest.mark.anyio
SPEECH = "/v1/audio/speech"
PROVENANCE = "/v1/audio/provenance"


class SamplingEngine(ToneEngine):
    """Speaks anew each time, unless a seed says otherwise."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, stochastic=True)


def content_id(answer: httpx.Response) -> str:
    return re.search(r'id="([0-9a-f]{32})"', answer.headers["x-polyvox-provenance"])[1]


async def spoken(client: httpx.AsyncClient, text: str = "Hello.", **fields: object) -> httpx.Response:
    answer = await client.post(SPEECH, json={"input": text, "response_format": "wav", **fields})
    assert answer.status_code == 200, answer.text
    return answer


async def checked(client: httpx.AsyncClient, data: bytes, **fields: str) -> dict[str, dict]:
    answer = await client.post(PROVENANCE, files={"file": ("speech", data)}, data=fields)
    assert answer.status_code == 200, answer.text
    return {found["evidence"]: found for found in answer.json()["findings"]}


@pytest.fixture
def signing(tmp_path):
    key = SigningKey.create(tmp_path / "provenance")
    return key, {"data_dir": tmp_path, "models_dir": tmp_path / "models", "provenance": "signed"}


async def test_the_same_request_has_the_same_bytes_and_id_and_another_text_another_id():
    async with called(tone_service()) as client:
        for audio_format in AudioFormat:
            first = await spoken(client, response_format=audio_format.value)
            again = await spoken(client, response_format=audio_format.value)
            other = await spoken(client, "Goodbye.", response_format=audio_format.value)
            assert first.content == again.content, audio_format
            assert content_id(first) == content_id(again) != content_id(other)


async def test_speech_that_is_sampled_anew_has_an_id_of_its_own():
    async with called(tone_service(SamplingEngine())) as client:
        assert content_id(await spoken(client)) != content_id(await spoken(client))
        assert content_id(await spoken(client, seed=3)) == content_id(await spoken(client, seed=3))


async def test_cached_answers_have_the_same_bytes_and_tag_as_the_first(tmp_path):
    async with called(tone_service(data_dir=tmp_path, speech_cache_bytes=1 << 24)) as client:
        answers = [await spoken(client, response_format=kind) for kind in ("wav", "wav", "mp3", "mp3")]
    assert [answer.headers["x-speech-cache"] for answer in answers] == ["miss", "hit", "hit", "hit"]
    for first, again in (answers[:2], answers[2:]):
        assert first.content == again.content
        assert first.headers["etag"] == again.headers["etag"]


async def test_tags_and_header_say_the_same():
    async with called(tone_service()) as client:
        answer = await spoken(client)
    marks = Marks.found_in(read_wav_tags(answer.content))
    assert (marks.source, marks.model, marks.content_id) == (SYNTHETIC, "tone", content_id(answer))
    assert answer.headers["x-polyvox-provenance"] == marks.header


async def test_a_server_may_mark_nothing_or_keep_wav_headers_plain():
    async with called(tone_service(provenance="off")) as client:
        answer = await spoken(client)
        assert "x-polyvox-provenance" not in answer.headers
        assert answer.content[36:40] == b"data"
        assert not (await spoken(client, response_format="mp3")).content.startswith(b"ID3")
    async with called(tone_service(provenance_bare_wav=True)) as client:
        answer = await spoken(client)
        assert answer.content[36:40] == b"data"
        assert content_id(answer)


async def test_dialects_whose_clients_skip_44_bytes_keep_the_plain_header_and_are_marked_in_headers():
    async with called(tone_service()) as client:
        answer = await client.post("/synthesize", json={"text": "Hello.", "response_format": "wav"})
    assert answer.content[36:40] == b"data"
    assert content_id(answer)


async def test_each_signed_answer_has_a_manifest_that_its_file_is_checked_by(signing):
    key, settings = signing
    async with called(tone_service(**settings)) as client:
        for audio_format in AudioFormat:
            for stream in (True, False):
                answer = await spoken(client, response_format=audio_format.value, stream=stream)
                path = f"{PROVENANCE}/{content_id(answer)}"
                assert answer.headers["link"] == f'<{path}>; rel="describedby"; type="application/json"'
                signed = SignedManifest.parse((await client.get(path)).content)
                assert signed.is_signed_by(key.public)
                assert signed.manifest.complete
                assert signed.manifest.data.match(answer.content).is_whole, (audio_format, stream)
                assert "Hello" not in signed.model_dump_json()
        assert len({content_id(await spoken(client)) for _ in range(2)}) == 2
        about = (await client.get(PROVENANCE)).json()
    assert (about["key"], about["public_key"]) == (key.public.id, key.public.pem.decode())


async def test_a_stream_under_way_has_a_signed_manifest_of_what_was_sent(signing):
    key, settings = signing
    service = tone_service(ToneEngine(chunks=3, chunk_seconds=2.0), **settings)
    sent = b""
    async with running(service), await service.open(SpeechRequest(Utterance("Hello.", "low")), LOCAL_CALL) as session:
        async with aclosing(encoded(session, AudioFormat.PCM)) as parts:
            async for part in parts:
                sent += part.data
                signed = service.notary.manifest(session.marks.content_id)
                assert signed.is_signed_by(key.public)
                assert not signed.manifest.complete
                match = signed.manifest.data.match(sent)
                assert match.matched == match.signed == len(sent) // DATA_BLOCK
                if len(sent) > 100_000:
                    break
        broken_off = service.notary.manifest(session.marks.content_id)
    assert not broken_off.manifest.complete
    assert broken_off.manifest.data.match(sent).is_whole


async def test_a_file_is_checked_with_its_tags_and_signature_and_one_bit_is_missed(signing):
    _, settings = signing
    async with called(tone_service(ToneEngine(chunk_seconds=2.0), **settings)) as client:
        wav = (await spoken(client)).content
        found = await checked(client, wav)
        assert (found["tags"]["verdict"], found["signature"]["verdict"]) == ("found", "found")
        assert found["watermark"]["verdict"] == "not_checked"
        altered = bytearray(wav)
        altered[-1] ^= 1
        assert (await checked(client, bytes(altered)))["signature"]["verdict"] == "partial"
        with wave.open(io.BytesIO(wav)) as file:
            samples = file.readframes(10**9)
        plain = io.BytesIO()
        with wave.open(plain, "wb") as file:
            file.setparams((1, 2, 24_000, 0, "NONE", ""))
            file.writeframes(samples)
        found = await checked(client, plain.getvalue())
        assert {kind: each["verdict"] for kind, each in found.items()} == {
            "tags": "not_found",
            "signature": "not_found",
            "watermark": "not_checked",
        }
        manifest = (await client.get(f"{PROVENANCE}/{Marks.found_in(read_wav_tags(wav)).content_id}")).text
        assert (await checked(client, plain.getvalue(), manifest=manifest))["signature"]["verdict"] == "found"
        forged = manifest.replace('"tone"', '"bone"')
        found = await checked(client, wav, manifest=forged)
        assert (found["signature"]["verdict"], "altered" in found["signature"]["says"]) == ("invalid", True)


async def test_what_cannot_be_checked_is_refused_with_the_fix():
    async with called(tone_service(prompt_max_bytes=100_000)) as client:
        assert error_of(await client.post(PROVENANCE, data={"manifest": "{}"}, files={"x": b""})) is not None
        for body, status in (({"file": b"no audio"}, 400), ({"file": bytes(200_000)}, 413)):
            assert (await client.post(PROVENANCE, files=body)).status_code == status
        answer = await client.post(PROVENANCE, files={"file": b"RIFF\0\0\0\0WAVE"}, data={"manifest": "{}"})
        assert error_of(answer)["param"] == "manifest"
        for name in ("0" * 32, "..", "%2e%2e%2fsigning-key.pem", "x" * 500):
            assert (await client.get(f"{PROVENANCE}/{name}")).status_code in (400, 404, 422)
