"""The check of the Host header: addresses and known names are answered, other names are not."""

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from polyvox.api.hosts import HostCheck
from polyvox.api.refusals import Refusals

pytestmark = pytest.mark.anyio


async def status(host: str, *names: str) -> tuple[int, str]:
    app = Starlette(routes=[Route("/v1/models", lambda request: PlainTextResponse("models"))])
    transport = httpx.ASGITransport(app=HostCheck(app, names, Refusals()))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        response = await client.get("/v1/models", headers={"host": host})
    return response.status_code, response.text


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8880", "localhost:8880", "LOCALHOST", "speech.localhost", "[::1]:8880", "[::1]", ""],
)
async def test_addresses_and_the_machines_own_name_are_answered(host):
    assert await status(host) == (200, "models")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8880", "localhost.evil.example", "127.0.0.1.evil.example", "[evil.example]"]
)
async def test_any_other_name_is_refused_with_the_remedy(host):
    code, text = await status(host, "speech.example")
    assert code == 403
    assert "allowed_hosts" in text


async def test_a_name_that_the_settings_allow_is_answered():
    assert (await status("Speech.example:443", "speech.example"))[0] == 200
    assert (await status("other.example", "*"))[0] == 200
