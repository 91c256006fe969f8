"""The gate of the doors on Ray: what it refuses, what it lets finish, and when the application closes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from helpers.fakes import ToneEngine, tone_service
from polyvox.api.app import create_app
from polyvox.api.refusals import Refusals
from polyvox.deploy.drain_gate import Drain, DrainGate

pytestmark = pytest.mark.anyio
SPEECH = {"model": "tone", "input": "Hello.", "voice": "low", "response_format": "pcm"}


class Application:
    """An application whose requests last until `finish` is set. It writes down when it starts and closes."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.began = asyncio.Event()
        self.finish = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for part in ("startup", "shutdown"):
                assert (await receive())["type"] == f"lifespan.{part}"
                self.events.append(part)
                await send({"type": f"lifespan.{part}.complete"})
            return
        self.began.set()
        await self.finish.wait()
        self.events.append("answered")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"all of it"})


@asynccontextmanager
async def living(gate: DrainGate) -> AsyncIterator["asyncio.Queue[Message]"]:
    """Start the application as a server does; yields what the server would say next to it."""
    told: asyncio.Queue[Message] = asyncio.Queue()
    sent: asyncio.Queue[Message] = asyncio.Queue()
    told.put_nowait({"type": "lifespan.startup"})
    life = asyncio.ensure_future(gate({"type": "lifespan"}, told.get, sent.put))
    assert (await sent.get())["type"] == "lifespan.startup.complete"
    yield told
    await asyncio.wait_for(life, 5)
    assert (await sent.get())["type"] == "lifespan.shutdown.complete"


def client(app: DrainGate) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://doors")


async def test_a_request_under_way_is_answered_before_the_application_closes_and_a_new_one_is_told_when_to_come() -> (
    None
):
    app, drain = Application(), Drain()
    gate = DrainGate(app, drain, Refusals())
    async with living(gate), client(gate) as doors:
        under_way = asyncio.ensure_future(doors.get("/speech"))
        await app.began.wait()
        draining = asyncio.ensure_future(drain.run(30.0))
        await asyncio.sleep(0)

        refused = await doors.get("/speech")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert "again in 5 s" in refused.json()["error"]["message"]

        assert app.events == ["startup"]
        app.finish.set()
        assert (await under_way).text == "all of it"
        await draining
        assert app.events == ["startup", "answered", "shutdown"]
        assert (await doors.get("/speech")).status_code == 503
        assert (await doors.get("/health")).status_code == 200


async def test_a_request_that_takes_too_long_does_not_hold_up_the_end() -> None:
    app, drain = Application(), Drain()
    gate = DrainGate(app, drain, Refusals())
    async with living(gate), client(gate) as doors:
        under_way = asyncio.ensure_future(doors.get("/speech"))
        await app.began.wait()
        await drain.run(0.01)
        assert app.events == ["startup", "shutdown"]
        under_way.cancel()


async def test_a_server_that_stops_by_itself_closes_the_application_as_ever() -> None:
    app = Application()
    async with living(DrainGate(app, Drain(), Refusals())) as told:
        told.put_nowait({"type": "lifespan.shutdown"})
    assert app.events == ["startup", "shutdown"]


async def test_the_doors_refuse_each_in_its_own_words_and_their_metrics_stay_readable() -> None:
    drain = Drain()
    app = create_app(tone_service(ToneEngine()))
    app.add_middleware(DrainGate, drain=drain, refusals=app.state.refusals)
    async with app.router.lifespan_context(app), client(app) as doors:
        assert (await doors.post("/v1/audio/speech", json=SPEECH)).status_code == 200
        drain.begun = True
        refused = await doors.post("/v1/audio/speech", json=SPEECH)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert refused.json()["error"]["code"] == "unavailable"
        foreign = await doors.post("/v1/text-to-speech/tone", json={"text": "Hello."})
        assert (foreign.status_code, "detail" in foreign.json()) == (503, True)
        assert "polyvox_requests_total" in (await doors.get("/metrics")).text
