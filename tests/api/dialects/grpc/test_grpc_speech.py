"""Our own gRPC service: text in fragments and audio out of it, one text at a time, and the lists."""

import io
from contextlib import asynccontextmanager

import av
import grpc
import pytest

from helpers.cloning import CloneEngine
from helpers.fakes import ToneEngine, missing_bundle, tone
from helpers.grpc_clients import GrpcStudio, SteppedEngine, grpc_channel, read_to_the_end, speech_client
from polyvox.api.dialects.grpc.conversation import Conversation
from polyvox.audio.encode import AudioFormat, encode

pytestmark = pytest.mark.anyio

CHUNK_BYTES = 4_800


@pytest.fixture
def studio(tmp_path):
    return GrpcStudio(tmp_path)


@asynccontextmanager
async def stub_of(studio):
    async with grpc_channel(studio) as channel:
        yield speech_client().stubs.SpeechStub(channel)


def config(**fields):
    return speech_client().ConverseRequest(config=speech_client().Config(**fields))


def text(fragment):
    return speech_client().ConverseRequest(text=fragment)


def event(**fields):
    return speech_client().ConverseRequest(**fields)


END = event(end={})
CANCEL = event(cancel={})


async def answers(call):
    return [(answer.WhichOneof("event"), answer) async for answer in call]


async def conversed(studio, *messages, **options):
    async with stub_of(studio) as stub:
        return await answers(stub.Converse(iter(messages), **options))


async def refusal(studio, *messages, **options):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await conversed(studio, *messages, **options)
    assert studio.is_idle
    trailers = {key: value for key, value in caught.value.trailing_metadata() or () if key.startswith("x-error")}
    return caught.value.code().name, trailers.get("x-error-code"), trailers.get("x-error-field")


async def test_audio_arrives_before_the_text_has_ended(tmp_path):
    studio = GrpcStudio(tmp_path, engine := SteppedEngine(chunks=1))
    async with stub_of(studio) as stub:
        call = stub.Converse()
        await call.write(config(voice="high"))
        started = (await call.read()).started
        assert (started.model, started.format, started.sample_rate, started.channels) == ("tone", "pcm", 24_000, 1)
        assert len(started.session_id) == 32
        await call.write(text("The first sentence is "))
        await call.write(text("here. And the sec"))
        engine.step()
        first = (await call.read()).audio
        assert len(first.data) == CHUNK_BYTES
        assert (first.chunk.index, first.chunk.first_sample, first.chunk.end_sample) == (0, 0, 2_400)
        assert [utterance.text.strip() for utterance in engine.heard] == ["The first sentence is here."]
        await call.write(text("ond."))
        await call.write(END)
        engine.step()
        second = (await call.read()).audio
        assert (second.chunk.index, second.chunk.first_sample, second.chunk.end_sample) == (1, 2_400, 4_800)
        finished = (await call.read()).finished
        assert (finished.cancelled, finished.chunks, finished.samples) == (False, 2, 4_800)
        assert await call.read() is grpc.aio.EOF
    assert studio.is_idle


async def test_words_and_spans_point_into_all_the_text_that_was_sent(studio):
    whole = "One two three. Four five six."
    got = await conversed(studio, config(), text(whole[:9]), text(whole[9:]), END)
    chunks = [answer.audio.chunk for kind, answer in got if kind == "audio"]
    words = [word for chunk in chunks for word in chunk.words]
    assert [whole[word.span.start : word.span.end] for word in words] == whole.split()
    assert [word.word for word in words] == whole.split()
    starts = [word.start for word in words]
    assert starts == sorted(starts)
    assert starts[3] == pytest.approx(0.3, abs=0.001)
    assert [whole[chunk.span.start : chunk.span.end] for chunk in chunks] == [chunk.text for chunk in chunks]


async def test_closing_ones_side_ends_the_text_as_well(studio):
    got = await conversed(studio, config(), text("One two three."))
    assert [kind for kind, _ in got] == ["started", "audio", "audio", "audio", "finished"]


async def test_how_the_text_was_cut_does_not_change_what_is_heard(studio, tmp_path):
    whole = "One two three. Four five six."
    at_once = await conversed(studio, config(), text(whole), END)
    letters = await conversed(GrpcStudio(tmp_path / "b"), config(), *map(text, whole), END)
    assert [answer.audio for _, answer in at_once[1:-1]] == [answer.audio for _, answer in letters[1:-1]]


async def test_a_cancel_ends_the_speech_at_once_and_properly(tmp_path):
    studio = GrpcStudio(tmp_path, engine := SteppedEngine(chunks=1_000))
    async with stub_of(studio) as stub:
        call = stub.Converse()
        await call.write(config())
        await call.write(text("One two three. "))
        await call.write(END)
        await call.read()
        engine.step()
        assert (await call.read()).WhichOneof("event") == "audio"
        await call.write(CANCEL)
        finished = (await call.read()).finished
        assert (finished.cancelled, finished.chunks, finished.samples) == (True, 1, 2_400)
        assert await call.read() is grpc.aio.EOF
        assert studio.is_idle


async def test_a_cancel_is_noticed_while_text_is_awaited(studio):
    got = await conversed(studio, config(), text("One"), CANCEL)
    assert [kind for kind, _ in got] == ["started", "finished"]
    assert got[-1][1].finished.cancelled


@pytest.mark.parametrize("name", ["wav", "mp3", "opus", "flac"])
async def test_formats_make_one_file_of_all_chunks(studio, name):
    got = await conversed(studio, config(format=name), text("One two three. Four."), END)
    data = b"".join(answer.audio.data for kind, answer in got if kind == "audio")
    with av.open(io.BytesIO(data)) as container:
        seconds = sum(frame.samples / frame.sample_rate for frame in container.decode(audio=0))
    assert seconds == pytest.approx(0.6, abs=0.06)


async def test_what_the_config_asks_for_reaches_the_engine(studio):
    asked = {"model": "tone", "voice": "high", "language": "en-GB", "speed": 2.0, "seed": 7, "sample_rate": 16_000}
    got = await conversed(studio, config(**asked, instructions="Slowly."), text("One two three."), END)
    utterance = studio.engine.heard[0]
    assert (utterance.voice, utterance.language, utterance.speed, utterance.seed) == ("high", "en-gb", 2.0, 7)
    started = got[0][1].started
    assert started.sample_rate == 16_000
    assert "cannot follow instructions" in started.warnings[0]
    assert got[-1][1].finished.samples == pytest.approx(0.15 * 16_000, abs=2)


async def test_what_is_dropped_from_a_text_is_said_in_the_trailing_metadata(studio):
    async with stub_of(studio) as stub:
        call = stub.Converse(iter((config(), text("One <b>two</b> <|x|> three."), END)))
        got = await answers(call)
        trailers = dict(await call.trailing_metadata())
    assert got[-1][0] == "finished"
    assert studio.engine.heard[0].text == "One two three."
    assert trailers["x-polyvox-warning"] == "dropped-markup: <b>, </b>, <|x|>"


async def test_a_recording_may_come_with_the_config(studio):
    file = encode(tone(300.0, 0, 48_000, 24_000), AudioFormat.FLAC, 24_000)
    await conversed(studio, config(prompt_audio=file, prompt_text="Words."), text("One two three."), END)
    assert studio.engine.prepared[0].transcript == "Words."


async def test_a_recording_goes_to_the_model_that_clones_where_the_default_one_does_not(tmp_path):
    file = encode(tone(300.0, 0, 48_000, 24_000), AudioFormat.FLAC, 24_000)
    engines = {"tone": ToneEngine(), "parrot": CloneEngine("parrot", wordless=True)}
    factories = {name: lambda _, engine=engine: engine for name, engine in engines.items()}
    studio = GrpcStudio(tmp_path, engines["tone"], factories=factories, models=list(engines))
    await conversed(studio, config(prompt_audio=file, prompt_text="Words."), text("One two three."), END)
    assert [each.text for each in engines["parrot"].heard] == ["One two three."]
    assert not engines["tone"].heard


async def test_consent_to_the_recording_is_stated_in_the_metadata(tmp_path):
    file = encode(tone(300.0, 0, 48_000, 24_000), AudioFormat.FLAC, 24_000)
    asked = (config(prompt_audio=file, prompt_text="Words."), text("One two three."), END)
    refused = await refusal(GrpcStudio(tmp_path / "silent", consent="required"), asked[0])
    assert refused == ("INVALID_ARGUMENT", "invalid_value", "consent")
    studio = GrpcStudio(tmp_path / "stating", consent="required")
    await conversed(studio, *asked, metadata=(("x-voice-consent", "By letter."),))
    assert studio.engine.prepared[0].transcript == "Words."


@pytest.mark.long
@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], ("INVALID_ARGUMENT", "invalid_value", "config")),
        ([text("One.")], ("INVALID_ARGUMENT", "invalid_value", "config")),
        ([event()], ("INVALID_ARGUMENT", "invalid_value", "config")),
        ([config(), config()], ("INVALID_ARGUMENT", "invalid_value", "config")),
        ([config(), event()], ("INVALID_ARGUMENT", "invalid_value", None)),
        ([config(), text("One."), END, text("Two.")], ("INVALID_ARGUMENT", "invalid_value", "text")),
        ([config(), text("One \x07.")], ("INVALID_ARGUMENT", "invalid_value", "text")),
        ([config(), text("?!"), END], ("INVALID_ARGUMENT", "invalid_text", "text")),
        ([config(), END], ("INVALID_ARGUMENT", "invalid_text", "text")),
        ([config(voice="nobody")], ("INVALID_ARGUMENT", "voice_not_found", "voice")),
        ([config(model="nothing")], ("NOT_FOUND", "model_not_found", "model")),
        ([config(format="midi")], ("INVALID_ARGUMENT", "format_not_supported", "format")),
        ([config(speed=0.0)], ("INVALID_ARGUMENT", "invalid_value", "speed")),
        ([config(speed=float("nan"))], ("INVALID_ARGUMENT", "invalid_value", "speed")),
        ([config(sample_rate=1)], ("INVALID_ARGUMENT", "invalid_value", "sample_rate")),
        ([config(seed=2**64 - 1)], ("INVALID_ARGUMENT", "invalid_value", "seed")),
        ([config(language="?")], ("INVALID_ARGUMENT", "invalid_value", "language")),
        ([config(volume=9.0)], ("INVALID_ARGUMENT", "invalid_value", "volume")),
        ([config(loudness=9.0)], ("INVALID_ARGUMENT", "invalid_value", "loudness")),
        ([config(prompt_audio=b"")], ("INVALID_ARGUMENT", "invalid_prompt", "prompt_audio")),
        ([config(prompt_audio=b"text"), text("One.")], ("INVALID_ARGUMENT", "invalid_audio", "prompt_audio")),
    ],
    ids=lambda value: value[2] if isinstance(value, tuple) else None,
)
async def test_bad_messages_have_a_status_a_code_and_the_field_at_fault(tmp_path, messages, expected):
    """The engine never gets to speak, so that each is refused for what it is, however late it is read."""
    studio = GrpcStudio(tmp_path, SteppedEngine())
    assert await refusal(studio, *messages) == expected


async def test_more_text_than_the_server_takes_is_refused_while_it_arrives(tmp_path):
    studio = GrpcStudio(tmp_path, SteppedEngine(), max_input_chars=50)
    fragments = [text("One two. ")] * 6
    assert await refusal(studio, config(), *fragments) == ("INVALID_ARGUMENT", "invalid_text", "text")


@pytest.mark.long
async def test_a_client_that_falls_silent_loses_its_call(tmp_path):
    studio = GrpcStudio(tmp_path, stall_seconds=0.2)
    async with stub_of(studio) as stub:
        for opening in ([], [config()], [config(), text("One")]):
            call = stub.Converse()
            for message in opening:
                await call.write(message)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await read_to_the_end(call)
            assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            assert dict(caught.value.trailing_metadata())["x-error-code"] == "client_stalled"
            assert studio.is_idle


async def test_a_defect_in_reading_ends_the_call_and_is_in_the_log(tmp_path, monkeypatch, capsys):
    def broken(*_):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(Conversation, "_take", broken)
    studio = GrpcStudio(tmp_path, SteppedEngine())
    assert await refusal(studio, config(), text("One.")) == ("INTERNAL", "internal_error", None)
    assert "secret detail" in capsys.readouterr().out


async def test_one_text_is_spoken_like_a_conversation_of_one_fragment(studio, tmp_path):
    request = speech_client().SpeakRequest(config=speech_client().Config(voice="high"), text="One two three.")
    async with stub_of(studio) as stub:
        got = await answers(stub.Speak(request))
    assert [kind for kind, _ in got] == ["started", "audio", "audio", "audio", "finished"]
    assert [answer.audio.chunk.text for _, answer in got[1:-1]] == ["One", "two", "three."]
    assert got[-1][1].finished.samples == 7_200


async def test_long_chunks_come_in_pieces_that_every_client_takes(tmp_path):
    studio = GrpcStudio(tmp_path, CloneEngine(chunks=1, chunk_seconds=100.0))
    request = speech_client().SpeakRequest(text="One.")
    async with stub_of(studio) as stub:
        got = [answer.audio for kind, answer in await answers(stub.Speak(request)) if kind == "audio"]
    assert sum(len(audio.data) for audio in got) == 2 * 24_000 * 100
    assert max(len(audio.data) for audio in got) <= 65_536
    assert [audio.HasField("chunk") for audio in got] == [True] + [False] * (len(got) - 1)


async def test_the_voices_are_listed(studio):
    async with stub_of(studio) as stub:
        answer = await stub.Voices(speech_client().VoicesRequest())
        assert [(voice.id, voice.name, voice.language) for voice in answer.voices] == [
            ("low", "Low", "en-us"),
            ("high", "High", "en-us"),
        ]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Voices(speech_client().VoicesRequest(model="nothing"))
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_the_models_are_listed_with_what_keeps_them_from_speaking(tmp_path):
    async with stub_of(GrpcStudio(tmp_path)) as stub:
        model = (await stub.Models(speech_client().ModelsRequest())).models[0]
    assert (model.id, model.available, model.is_default, model.sample_rate) == ("tone", True, True, 24_000)
    assert (list(model.languages), model.cloning, model.word_timings) == (["en-us"], True, True)
    broken = GrpcStudio(tmp_path / "b", ToneEngine(start_error=missing_bundle()))
    async with stub_of(broken) as stub:
        model = (await stub.Models(speech_client().ModelsRequest())).models[0]
    assert not model.available
    assert "polyvox pull tone" in model.reason
