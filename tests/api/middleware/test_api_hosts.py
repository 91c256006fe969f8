"""The check of the Host header: addresses and known names are answered, other names are not."""

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from helpers.tables import each_row
from polyvox.api.middleware.hosts import HostCheck, check_exposure, names_to_answer
from polyvox.api.refusals import Refusals
from polyvox.config import Settings
from polyvox.errors import ForbiddenError

pytestmark = pytest.mark.anyio


async def status(host: str, *names: str) -> tuple[int, str]:
    app = Starlette(routes=[Route("/v1/models", lambda request: PlainTextResponse("models"))])
    transport = httpx.ASGITransport(app=HostCheck(app, names, Refusals()))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        response = await client.get("/v1/models", headers={"host": host})
    return response.status_code, response.text


@each_row(
    "host",
    ["127.0.0.1", "127.0.0.1:8880", "localhost:8880", "LOCALHOST", "speech.localhost", "[::1]:8880", "[::1]", ""],
)
async def test_addresses_and_the_machines_own_name_are_answered(host):
    assert await status(host) == (200, "models")


@each_row(
    "host", ["evil.example", "evil.example:8880", "localhost.evil.example", "127.0.0.1.evil.example", "[evil.example]"]
)
async def test_any_other_name_is_refused_with_the_remedy(host):
    code, text = await status(host, "speech.example")
    assert code == 403
    assert "allowed_hosts" in text


async def test_a_name_that_the_settings_allow_is_answered():
    assert (await status("Speech.example:443", "speech.example"))[0] == 200
    assert (await status("other.example", "*"))[0] == 200


@each_row(
    ("settings", "names"),
    [
        ({}, []),
        ({"allowed_hosts": ["speech.example"]}, ["speech.example"]),
        ({"host": "0.0.0.0", "allowed_hosts": ["speech.example"]}, ["speech.example"]),
        ({"host": "0.0.0.0", "allowed_hosts": ["speech.example"], "insecure": True}, ["speech.example"]),
        ({"host": "0.0.0.0", "insecure": True}, None),
        ({"insecure": True}, []),
        ({"api_keys": ["key"]}, None),
        ({"host": "0.0.0.0", "api_keys": ["key"]}, None),
    ],
)
def test_names_are_checked_wherever_a_page_could_use_the_server(settings, names):
    check_exposure(Settings(**settings))
    assert names_to_answer(Settings(**settings)) == names


@each_row("host", ["0.0.0.0", "::", "10.0.0.7", "speech.example", ""])
def test_other_machines_need_a_key_or_a_word_of_the_operator(host):
    with pytest.raises(ForbiddenError, match="POLYVOX_ALLOWED_HOSTS"):
        check_exposure(Settings(host=host))


@each_row("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_this_machine_needs_none(host):
    check_exposure(Settings(host=host))
