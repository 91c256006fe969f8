"""The gRPC server around its services: keys, limits, deadlines, clients that leave or stall, health, and its end."""

import asyncio

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from helpers.cloning import CloneEngine, opened
from helpers.grpc_clients import (
    GrpcStudio,
    SteppedEngine,
    grpc_channel,
    original_client,
    read_to_the_end,
    speech_client,
)
from polyvox.api.dialects.grpc.server import GrpcServer
from polyvox.errors import UnavailableError
from polyvox.service.session import SessionState

pytestmark = pytest.mark.anyio

CHUNK_BYTES = 4_800


def speak(channel, text="One two three.", **options):
    client = original_client()
    request = client.Request(sft_request=client.sftRequest(tts_text=text))
    return client.stubs.CosyVoiceStub(channel).Inference(request, **options)


async def read_all(call):
    return b"".join([response.tts_audio async for response in call])


async def failure(call):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await read_all(call)
    return caught.value


async def until(condition, seconds=5.0):
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.005)


def ended(studio, state: SessionState) -> float:
    labels = {"state": str(state)}
    return studio.speech.metrics.registry.get_sample_value("polyvox_session_seconds_count", labels) or 0.0


async def test_a_client_that_cancels_frees_its_session_within_a_step(tmp_path):
    studio = GrpcStudio(tmp_path, engine := SteppedEngine(chunks=1_000))
    async with grpc_channel(studio) as channel:
        call = speak(channel)
        engine.step()
        await call.read()
        assert not studio.is_idle
        call.cancel()
        await until(lambda: studio.is_idle)
        assert ended(studio, SessionState.CANCELLED) == 1
        engine.step()
        assert engine.closed == 1


async def test_a_client_that_leaves_the_queue_gives_up_its_place(tmp_path):
    studio = GrpcStudio(tmp_path, SteppedEngine(), max_sessions=1, max_queue=1)
    async with grpc_channel(studio) as channel:
        speaking = speak(channel)
        await until(lambda: studio.engine.speaking == 1)
        waiting = speak(channel)
        depth = studio.speech.metrics.registry.get_sample_value
        await until(lambda: depth("polyvox_queue_depth") == 1.0)
        refused = await failure(speak(channel))
        assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        waiting.cancel()
        await until(lambda: depth("polyvox_queue_depth") == 0.0)
        speaking.cancel()
        await until(lambda: studio.is_idle)
    assert len(studio.engine.heard) == 1


async def test_the_calls_deadline_is_the_sessions(tmp_path):
    studio = GrpcStudio(tmp_path, engine := SteppedEngine(chunks=1_000))
    async with grpc_channel(studio) as channel:
        call = speak(channel, timeout=0.3)
        engine.step()
        refused = await failure(call)
        assert refused.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        await until(lambda: studio.is_idle)


async def test_the_servers_own_deadline_holds_as_well(tmp_path):
    studio = GrpcStudio(tmp_path, SteppedEngine(), deadline_seconds=0.2)
    async with grpc_channel(studio) as channel:
        refused = await failure(speak(channel, timeout=60))
    assert refused.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert dict(refused.trailing_metadata())["x-error-code"] == "deadline_exceeded"
    assert studio.is_idle


async def test_refusals_before_the_service_sees_a_call_are_counted_once_each(tmp_path):
    """As requests and as failures, like those of HTTP; a key that is missing and calls that do not speak are not."""
    studio = GrpcStudio(tmp_path, CloneEngine(), api_keys=["key"])
    client, key = original_client(), (("authorization", "Bearer key"),)
    empty = client.Request(zero_shot_request=client.zeroshotRequest(tts_text="Hello.", prompt_text="Hello."))
    async with grpc_channel(studio) as channel:
        inference = client.stubs.CosyVoiceStub(channel).Inference
        assert (await failure(inference(client.Request(), metadata=key))).code() is grpc.StatusCode.INVALID_ARGUMENT
        assert (await failure(inference(empty, metadata=key))).code() is grpc.StatusCode.INVALID_ARGUMENT
        assert (await failure(speak(channel, text="", metadata=key))).code() is grpc.StatusCode.INVALID_ARGUMENT
        assert (await failure(speak(channel))).code() is grpc.StatusCode.UNAUTHENTICATED
    metrics = studio.speech.metrics
    assert counted(metrics.requests) == counted(metrics.failures) == 3


def counted(counter) -> float:
    return sum(sample.value for metric in counter.collect() for sample in metric.samples if "_total" in sample.name)


async def test_concurrent_calls_are_limited_and_refused_with_a_retry_time(tmp_path):
    studio = GrpcStudio(tmp_path, engine := SteppedEngine(chunks=1), grpc_max_calls=2)
    async with grpc_channel(studio) as channel:
        first, second = speak(channel), speak(channel)
        await until(lambda: engine.speaking == 2)
        refused = await failure(speak(channel))
        assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        trailers = dict(refused.trailing_metadata())
        assert trailers["x-error-code"] == "overloaded"
        assert int(trailers["retry-after"]) >= 1
        assert int(trailers["grpc-retry-pushback-ms"]) >= 1_000
        assert (await speech_client().stubs.SpeechStub(channel).Models(speech_client().ModelsRequest())).models
        engine.step()
        engine.step()
        assert len(await read_all(first)) == len(await read_all(second)) == CHUNK_BYTES
        engine.step()
        assert len(await read_all(speak(channel))) == CHUNK_BYTES
    assert studio.is_idle


async def test_a_message_over_the_limit_is_refused_before_it_is_read(tmp_path):
    studio = GrpcStudio(tmp_path, max_body_bytes=10_000, prompt_max_bytes=10_000)
    async with grpc_channel(studio) as channel:
        refused = await failure(speak(channel, "a" * 20_001))
        assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert len(await read_all(speak(channel))) == 3 * CHUNK_BYTES
    assert len(studio.engine.heard) == 1


@pytest.mark.long
async def test_so_is_one_that_is_small_only_while_it_is_packed(tmp_path):
    studio = GrpcStudio(tmp_path)
    async with grpc_channel(studio) as channel:
        refused = await failure(speak(channel, "a" * 40_000_000, compression=grpc.Compression.Gzip))
        assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert len(await read_all(speak(channel))) == 3 * CHUNK_BYTES


async def test_bytes_in_a_stream_that_are_no_message_are_refused(tmp_path):
    studio = GrpcStudio(tmp_path, SteppedEngine())
    first = speech_client().ConverseRequest(config=speech_client().Config()).SerializeToString()
    async with grpc_channel(studio) as channel:
        method = channel.stream_stream("/polyvox.v1.Speech/Converse")
        for messages in ([b"\x0a\xff"], [first, b"\x0a\xff"]):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                _ = [answer async for answer in method(iter(messages))]
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert studio.is_idle


async def test_bytes_that_are_no_message_are_refused(tmp_path):
    studio = GrpcStudio(tmp_path)
    async with grpc_channel(studio) as channel:
        method = channel.unary_stream("/cosyvoice.CosyVoice/Inference")
        refused = await failure(method(b"\x0a\xff\xff\xff\xff"))
        assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert len(await read_all(speak(channel))) == 3 * CHUNK_BYTES


@pytest.mark.long
async def test_a_client_that_reads_nothing_stalls_only_itself_and_is_dropped(tmp_path):
    engine = CloneEngine(chunks=200, chunk_seconds=2.0)
    studio = GrpcStudio(tmp_path, engine, stall_seconds=0.5)
    async with grpc_channel(studio) as channel:
        call = speak(channel)
        await call.read()
        await until(lambda: engine.speaking == 0, seconds=20)
        await until(lambda: studio.is_idle)
        refused = await failure_of_reads(call)
    assert refused.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert ended(studio, SessionState.DONE) == 0


async def failure_of_reads(call):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await read_to_the_end(call)
    return caught.value


async def test_a_defect_is_an_internal_error_whose_reference_is_in_the_log(tmp_path, monkeypatch, capsys):
    studio = GrpcStudio(tmp_path)

    async def broken(request, call):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(studio.speech, "open", broken)
    async with grpc_channel(studio) as channel:
        refused = await failure(speak(channel))
    assert refused.code() is grpc.StatusCode.INTERNAL
    assert "secret" not in refused.details()
    reference = refused.details().rpartition(" ")[2].removesuffix(".")
    assert reference in capsys.readouterr().out


class TestKeys:
    @pytest.mark.parametrize(
        "metadata", [(), (("authorization", "Bearer wrong"),), (("authorization", "Basic sesame"),)]
    )
    async def test_a_call_without_a_key_is_refused(self, tmp_path, metadata):
        studio = GrpcStudio(tmp_path, api_keys=["sesame"])
        async with grpc_channel(studio) as channel:
            refused = await failure(speak(channel, metadata=metadata))
        assert refused.code() is grpc.StatusCode.UNAUTHENTICATED
        assert studio.engine.heard == []

    async def test_a_call_with_one_is_answered(self, tmp_path):
        studio = GrpcStudio(tmp_path, api_keys=["other", "sesame"])
        async with grpc_channel(studio) as channel:
            audio = await read_all(speak(channel, metadata=(("authorization", "Bearer sesame"),)))
        assert len(audio) == 3 * CHUNK_BYTES

    async def test_health_needs_none(self, tmp_path):
        async with grpc_channel(GrpcStudio(tmp_path, api_keys=["sesame"])) as channel:
            answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


class TestHealth:
    @pytest.mark.parametrize("service", ["", "cosyvoice.CosyVoice", "polyvox.v1.Speech"])
    async def test_it_says_what_ready_says(self, tmp_path, service):
        studio = GrpcStudio(tmp_path)
        async with grpc_channel(studio) as channel:
            check = health_pb2_grpc.HealthStub(channel).Check
            request = health_pb2.HealthCheckRequest(service=service)
            assert (await check(request)).status == health_pb2.HealthCheckResponse.SERVING
            await studio.speech.close()
            assert not studio.speech.ready.ok
            assert (await check(request)).status == health_pb2.HealthCheckResponse.NOT_SERVING

    async def test_a_model_without_any_voice_does_not_serve(self, tmp_path):
        class Recorded(CloneEngine):
            voices = ()

        studio = GrpcStudio(tmp_path, Recorded(), default_voice="nobody")
        async with grpc_channel(studio) as channel:
            check = health_pb2_grpc.HealthStub(channel).Check
            answer = await check(health_pb2.HealthCheckRequest())
            assert studio.speech.ready.ok
        assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING

    async def test_a_service_that_is_not_there_is_not_found(self, tmp_path):
        async with grpc_channel(GrpcStudio(tmp_path)) as channel:
            stub, request = health_pb2_grpc.HealthStub(channel), health_pb2.HealthCheckRequest(service="other")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.Check(request)
            assert caught.value.code() is grpc.StatusCode.NOT_FOUND
            watched = await stub.Watch(request).read()
            assert watched.status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN

    async def test_a_watch_reports_changes_and_the_end(self, tmp_path):
        studio = GrpcStudio(tmp_path)
        async with opened(studio):
            server = GrpcServer(studio.speech, studio.voices)
            address = server.bind(0)
            await server.start()
            async with grpc.aio.insecure_channel(address) as channel:
                call = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
                assert (await call.read()).status == health_pb2.HealthCheckResponse.SERVING
                closing = asyncio.create_task(server.close())
                assert (await call.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
                async with asyncio.timeout(5):
                    await closing


async def test_reflection_shows_the_services_and_their_messages(tmp_path):
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="polyvox.v1.Speech"),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="cosyvoice.Request"),
    ]
    async with grpc_channel(GrpcStudio(tmp_path)) as channel:
        call = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter(asked))
        services, speech, request = [answer async for answer in call]
    names = {service.name for service in services.list_services_response.service}
    assert {"cosyvoice.CosyVoice", "polyvox.v1.Speech", "grpc.health.v1.Health"} <= names
    files = [
        FileDescriptorProto.FromString(answer.file_descriptor_response.file_descriptor_proto[0])
        for answer in (speech, request)
    ]
    assert [file.package for file in files] == ["polyvox.v1", "cosyvoice"]


class TestEnd:
    async def test_open_streams_are_finished_and_new_calls_refused(self, tmp_path):
        studio = GrpcStudio(tmp_path, engine := SteppedEngine())
        async with opened(studio):
            server = GrpcServer(studio.speech, studio.voices)
            address = server.bind(0)
            await server.start()
            async with grpc.aio.insecure_channel(address) as channel:
                call = speak(channel)
                engine.step()
                await call.read()
                closing = asyncio.create_task(server.close())
                await asyncio.sleep(0.05)
                assert (await failure(speak(channel))).code() is grpc.StatusCode.UNAVAILABLE
                engine.step()
                engine.step()
                assert len((await call.read()).tts_audio) == len((await call.read()).tts_audio) == CHUNK_BYTES
                assert await call.read() is grpc.aio.EOF
                await closing
        assert ended(studio, SessionState.DONE) == 1

    async def test_a_stream_that_does_not_end_in_time_is_cancelled(self, tmp_path):
        studio = GrpcStudio(tmp_path, engine := SteppedEngine(), drain_seconds=0.2)
        async with opened(studio):
            server = GrpcServer(studio.speech, studio.voices)
            address = server.bind(0)
            await server.start()
            async with grpc.aio.insecure_channel(address) as channel:
                call = speak(channel)
                engine.step()
                await call.read()
                await server.close()
                assert (await failure_of_reads(call)).code() in (
                    grpc.StatusCode.UNAVAILABLE,
                    grpc.StatusCode.CANCELLED,
                )
            await until(lambda: studio.is_idle)

    async def test_an_address_in_use_is_one_sentence(self, tmp_path):
        studio = GrpcStudio(tmp_path)
        async with opened(studio):
            one, other = (GrpcServer(studio.speech, studio.voices) for _ in range(2))
            port = int(one.bind(0).rpartition(":")[2])
            with pytest.raises(UnavailableError, match=f"port {port}"):
                other.bind(port)
            for server in (one, other):
                await server.close()
