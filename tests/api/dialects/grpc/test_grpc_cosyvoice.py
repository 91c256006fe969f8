"""CosyVoice's gRPC service, called by a client that was compiled from its original definition."""

import hashlib

import grpc
import pytest

from helpers.cloning import CloneEngine
from helpers.fakes import ToneEngine
from helpers.grpc_clients import GrpcStudio, SteppedEngine, grpc_channel, original_client, recording
from polyvox.api.dialects.grpc.schema import message_type

pytestmark = pytest.mark.anyio

CHUNK_BYTES = 4_800


@pytest.fixture
def studio(tmp_path):
    return GrpcStudio(tmp_path, CloneEngine(instructions=True))


async def inferred(studio, request, **options):
    """The samples of an answer, and its initial metadata."""
    async with grpc_channel(studio) as channel:
        call = original_client().stubs.CosyVoiceStub(channel).Inference(request, **options)
        audio = [response.tts_audio async for response in call]
        return b"".join(audio), dict(await call.initial_metadata())


async def refusal(studio, request, **options):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await inferred(studio, request, **options)
    assert studio.is_idle
    assert caught.value.details().endswith(".")
    trailers = {key: value for key, value in caught.value.trailing_metadata() or () if key.startswith("x-error")}
    return caught.value.code().name, trailers.get("x-error-code"), trailers.get("x-error-field")


def request_of(**fields):
    client = original_client()
    kinds = {
        "sft_request": client.sftRequest,
        "zero_shot_request": client.zeroshotRequest,
        "cross_lingual_request": client.crosslingualRequest,
        "instruct_request": client.instructRequest,
    }
    return client.Request(**{kind: kinds[kind](**values) for kind, values in fields.items()})


async def test_a_voice_of_the_models_own_is_spoken_with(studio):
    audio, metadata = await inferred(studio, request_of(sft_request={"spk_id": "high", "tts_text": "One two three."}))
    assert len(audio) == 3 * CHUNK_BYTES
    assert metadata["x-audio-sample-rate"] == "24000"
    assert len(metadata["x-session-id"]) == 32
    assert studio.engine.heard[0].voice == "high"
    assert studio.is_idle


async def test_without_a_speaker_the_default_voice_speaks(studio):
    await inferred(studio, request_of(sft_request={"tts_text": "One two three."}))
    assert studio.engine.heard[0].voice == "low"


async def test_a_recording_with_its_words_becomes_the_voice(studio):
    fields = {"tts_text": "One two three.", "prompt_text": "Some words.", "prompt_audio": recording(2.0)}
    audio, _ = await inferred(studio, request_of(zero_shot_request=fields))
    assert len(audio) == 3 * CHUNK_BYTES
    prompt = studio.engine.prepared[0]
    assert prompt.transcript == "Some words."
    assert len(prompt.pcm) / prompt.sample_rate == pytest.approx(2.0, abs=0.01)
    assert studio.engine.heard[0].tuning == {"zero_shot": 1.0}


async def test_the_frame_that_version_3_wants_may_come_along(studio):
    words = "You are a helpful assistant.<|endofprompt|>Some words."
    fields = {"tts_text": "One two three.", "prompt_text": words, "prompt_audio": recording(2.0)}
    await inferred(studio, request_of(zero_shot_request=fields))
    assert studio.engine.prepared[0].transcript == "Some words."
    frame = "You are a helpful assistant. Speak slowly.<|endofprompt|>"
    await inferred(
        GrpcStudio(studio.speech.settings.data_dir, engine := CloneEngine(instructions=True)),
        request_of(instruct_request={"tts_text": "One two.", "spk_id": "low", "instruct_text": frame}),
    )
    assert engine.heard[0].instructions == "Speak slowly."


async def test_a_recording_alone_becomes_the_voice(studio):
    fields = {"tts_text": "One two three.", "prompt_audio": recording(2.0)}
    audio, _ = await inferred(studio, request_of(cross_lingual_request=fields))
    assert len(audio) == 3 * CHUNK_BYTES
    assert studio.engine.heard[0].tuning == {}


async def test_an_instruction_is_followed_in_a_voice_of_the_models_own(studio):
    fields = {"tts_text": "One two three.", "spk_id": "high", "instruct_text": "Slowly."}
    await inferred(studio, request_of(instruct_request=fields))
    assert (studio.engine.heard[0].voice, studio.engine.heard[0].instructions) == ("high", "Slowly.")


async def test_an_instruction_is_followed_in_the_voice_of_a_recording_by_the_added_field(studio):
    """A client that knows the field sends it; for one that does not, its bytes stand for it here."""
    request = request_of(instruct_request={"tts_text": "One two three.", "spk_id": "x", "instruct_text": "Slowly."})
    samples = recording(2.0)
    size = len(samples)
    length = bytes((size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14))
    payload = request.instruct_request.SerializeToString() + b"\x22" + length + samples
    added = original_client().Request(instruct_request=original_client().instructRequest.FromString(payload))
    audio, _ = await inferred(studio, added)
    assert len(audio) == 3 * CHUNK_BYTES
    assert len(studio.engine.prepared) == 1
    assert studio.engine.heard[0].instructions == "Slowly."


async def test_an_instruction_that_the_model_cannot_follow_is_a_warning(tmp_path):
    request = request_of(instruct_request={"tts_text": "One.", "spk_id": "low", "instruct_text": "Slowly."})
    _, metadata = await inferred(GrpcStudio(tmp_path), request)
    assert "cannot follow instructions" in metadata["x-polyvox-warning"]


async def test_samples_leave_before_the_next_chunk_is_made(tmp_path):
    studio = GrpcStudio(tmp_path, engine := SteppedEngine())
    async with grpc_channel(studio) as channel:
        call = original_client().stubs.CosyVoiceStub(channel).Inference(request_of(sft_request={"tts_text": "One."}))
        for _ in range(3):
            engine.step()
            assert len((await call.read()).tts_audio) == CHUNK_BYTES
        assert await call.read() is grpc.aio.EOF


@pytest.mark.long
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ("INVALID_ARGUMENT", "invalid_value", None)),
        ({"sft_request": {"tts_text": ""}}, ("INVALID_ARGUMENT", "invalid_text", "tts_text")),
        ({"sft_request": {"tts_text": "?!"}}, ("INVALID_ARGUMENT", "invalid_text", "tts_text")),
        ({"sft_request": {"tts_text": "One\0"}}, ("INVALID_ARGUMENT", "invalid_value", "tts_text")),
        ({"sft_request": {"tts_text": "a" * 100_001}}, ("INVALID_ARGUMENT", "invalid_text", "tts_text")),
        ({"sft_request": {"tts_text": "One.", "spk_id": "nobody"}}, ("INVALID_ARGUMENT", "voice_not_found", "spk_id")),
        (
            {"zero_shot_request": {"tts_text": "One.", "prompt_text": "Two."}},
            ("INVALID_ARGUMENT", "invalid_prompt", "prompt_audio"),
        ),
        (
            {"zero_shot_request": {"tts_text": "One.", "prompt_audio": recording(2.0)}},
            ("INVALID_ARGUMENT", "invalid_prompt", "prompt_text"),
        ),
        (
            {"cross_lingual_request": {"tts_text": "One.", "prompt_audio": recording(2.0)[:-1]}},
            ("INVALID_ARGUMENT", "invalid_audio", "prompt_audio"),
        ),
        (
            {"cross_lingual_request": {"tts_text": "One.", "prompt_audio": recording(31.0)}},
            ("INVALID_ARGUMENT", "invalid_prompt", "prompt_audio"),
        ),
        (
            {"cross_lingual_request": {"tts_text": "One.", "prompt_audio": recording(61.0)}},
            ("INVALID_ARGUMENT", "invalid_prompt", "prompt_audio"),
        ),
        (
            {"cross_lingual_request": {"tts_text": "One.", "prompt_audio": recording(0.1)}},
            ("INVALID_ARGUMENT", "invalid_prompt", "prompt_audio"),
        ),
        (
            {"cross_lingual_request": {"tts_text": "One.", "prompt_audio": bytes(64_000)}},
            ("INVALID_ARGUMENT", "invalid_prompt", "prompt_audio"),
        ),
    ],
    ids=[
        "no oneof", "no text", "no words", "control character", "too much text", "no such speaker", "empty recording",
        "no transcript", "odd bytes", "31 seconds", "61 seconds", "a tenth of a second", "silence",
    ],
)  # fmt: skip
async def test_bad_requests_have_a_status_a_code_and_the_field_at_fault(studio, fields, expected):
    assert await refusal(studio, request_of(**fields)) == expected


async def test_a_model_that_cannot_clone_says_so(tmp_path):
    fields = {"tts_text": "One.", "prompt_audio": recording(2.0)}
    refused = await refusal(GrpcStudio(tmp_path, ToneEngine()), request_of(cross_lingual_request=fields))
    assert refused == ("INVALID_ARGUMENT", "invalid_value", None)


async def test_an_engine_that_fails_in_the_middle_ends_the_call_visibly(tmp_path):
    studio = GrpcStudio(tmp_path, CloneEngine(fail_at=1))
    refused = await refusal(studio, request_of(sft_request={"tts_text": "One."}))
    assert refused == ("INTERNAL", "engine_failed", None)


async def test_a_format_and_a_seed_may_be_asked_for(studio):
    request, response = message_type("cosyvoice.Request"), message_type("cosyvoice.Response")
    asked = request(seed=7, response_format="flac", model="tone")
    asked.sft_request.tts_text, asked.sft_request.spk_id = "One.", "low"
    async with grpc_channel(studio) as channel:
        call = channel.unary_stream(
            "/cosyvoice.CosyVoice/Inference",
            request_serializer=request.SerializeToString,
            response_deserializer=response.FromString,
        )
        audio = b"".join([part.tts_audio async for part in call(asked)])
    assert audio.startswith(b"fLaC")
    assert studio.engine.heard[-1].seed == 7


async def test_chunks_are_told_to_those_who_ask_and_nobody_else(studio):
    """A client compiled from the original definition does not see the field; its samples are the same."""
    wish = request_of(sft_request={"spk_id": "high", "tts_text": "One two three."})
    ask = [("x-polyvox-chunks", "1")]
    async with grpc_channel(studio) as channel:
        original = original_client().stubs.CosyVoiceStub(channel).Inference(wish, metadata=ask)
        audio = b"".join([each.tts_audio async for each in original])
        call = channel.unary_stream(
            "/cosyvoice.CosyVoice/Inference", response_deserializer=message_type("cosyvoice.Response").FromString
        )
        told = [each async for each in call(wish.SerializeToString(), metadata=ask)]
        plain = [each async for each in call(wish.SerializeToString())]
    assert b"".join(each.tts_audio for each in told) == audio
    chunks = [each.chunk for each in told if each.HasField("chunk")]
    assert [(each.index, each.first_sample, each.end_sample) for each in chunks] == [
        (0, 0, 2_400),
        (1, 2_400, 4_800),
        (2, 4_800, 7_200),
    ]
    assert [each.sha256 for each in chunks] == [
        hashlib.sha256(audio[start : start + CHUNK_BYTES]).hexdigest() for start in range(0, len(audio), CHUNK_BYTES)
    ]
    assert (chunks[0].first_token, chunks[0].end_token, chunks[0].HasField("first_frame")) == (0, 1, False)
    assert not any(each.HasField("chunk") for each in plain)
