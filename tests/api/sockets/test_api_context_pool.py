"""Contexts of one socket: their number, and that what befalls one leaves the others alone."""

import asyncio

import pytest
from starlette.websockets import WebSocketDisconnect

from helpers.fakes import ToneEngine, running, tone_service
from helpers.tables import each_row
from polyvox.api.sockets.context_pool import ContextPool
from polyvox.errors import OverloadedError, PolyvoxError, TextError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.contexts.speech_context import SpeechContext
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio


def new_context(service):
    return SpeechContext(service, SpeechRequest(Utterance("", "low"), door="test"), LOCAL_CALL)


class Client:
    def __init__(self):
        self.events = []
        self.errors = []

    async def deliver(self, context):
        async for event in context:
            self.events.append(event)

    async def failed(self, error):
        self.errors.append(error)


async def test_each_context_is_delivered_and_leaves():
    client = Client()
    async with running(tone_service(ToneEngine())) as service, ContextPool(2) as pool:
        for name in "ab":
            pool.open(name, new_context(service), client.deliver, client.failed)
        with pytest.raises(OverloadedError):
            pool.open("c", new_context(service), client.deliver, client.failed)
        for name in pool.ids:
            pool.get(name).push("Hello.")
            pool.get(name).end()
        await pool.finished()
        assert pool.get("a") is None
        assert len(client.events) == 6
        assert not client.errors


@each_row(
    ("error", "told"),
    [(TextError("no"), TextError), (RuntimeError("broken"), PolyvoxError), (WebSocketDisconnect(), None)],
)
async def test_an_error_is_told_once_and_the_others_go_on(error, told):
    client = Client()

    async def fail(context):
        raise error

    async with running(tone_service(ToneEngine())) as service, ContextPool(2) as pool:
        pool.open("bad", new_context(service), fail, client.failed)
        pool.open("good", new_context(service), client.deliver, client.failed)
        pool.get("good").push("Hello.")
        pool.get("good").end()
        await pool.finished()
    assert [type(each) for each in client.errors] == ([] if told is None else [told])
    assert client.events


async def test_leaving_stops_every_engine():
    engine = ToneEngine(chunks=1000, delay=0.01)
    client = Client()
    async with running(tone_service(engine)) as service:
        async with ContextPool(4) as pool:
            for name in "abc":
                pool.open(name, new_context(service), client.deliver, client.failed)
                pool.get(name).push("Hello.")
                pool.get(name).flush()
            async with asyncio.timeout(5):
                while engine.speaking < 3:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            assert await pool.cancel("a")
            assert engine.speaking == 2
            assert not await pool.cancel("a")
        assert engine.speaking == 0


async def test_contexts_stop_even_if_whoever_closes_them_does_not_wait():
    engine = ToneEngine(chunks=1000, delay=0.01)
    client = Client()
    async with running(tone_service(engine)) as service:
        pool = ContextPool(4)
        for name in ("waits", "speaks"):
            pool.open(name, new_context(service), client.deliver, client.failed)
        pool.get("speaks").push("Hello.")
        pool.get("speaks").flush()
        async with asyncio.timeout(5):
            while not engine.speaking:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            closing = asyncio.create_task(pool.close())
            await asyncio.sleep(0)
            closing.cancel()
            while engine.speaking or len(pool):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
