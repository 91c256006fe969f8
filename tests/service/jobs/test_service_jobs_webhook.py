"""Webhooks go to allowed hosts at checked addresses, are signed, and never hold a job up."""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from helpers.fakes import tone_settings
from helpers.job_client import job_client
from helpers.tables import each_row
from polyvox.errors import ForbiddenError, InvalidRequestError
from polyvox.service.jobs import webhook
from polyvox.service.jobs.webhook import Webhooks

pytestmark = pytest.mark.anyio

PUBLIC = "93.184.216.34"
HOOK = "https://hooks.example.org/told"
ALLOWED = {"job_webhook_hosts": ["hooks.example.org"], "job_webhook_secret": "a secret"}


def webhooks(
    answer: Callable[[httpx.Request], httpx.Response],
    addresses: Sequence[str] = (PUBLIC,),
    clock: Callable[[], float] = lambda: 1_000.0,
    **settings: Any,
) -> Webhooks:
    async def resolve(_: str) -> Sequence[str]:
        return addresses

    return Webhooks(
        tone_settings(**ALLOWED | settings),
        resolve=resolve,
        transport=lambda _: httpx.MockTransport(answer),
        clock=clock,
    )


async def test_a_message_goes_to_the_checked_address_with_a_signature():
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(204)

    body = b'{"id":"job_1"}'
    assert await webhooks(answer).deliver(HOOK, body, "job_1")
    (request,) = seen
    assert (request.url.host, request.headers["host"]) == (PUBLIC, "hooks.example.org")
    assert request.extensions["sni_hostname"] == "hooks.example.org"
    digest = hmac.new(b"a secret", b"1000." + body, hashlib.sha256).hexdigest()
    assert request.headers["x-polyvox-signature"] == f"t=1000,v1={digest}"
    assert request.content == body


async def test_standard_webhooks_own_library_takes_a_message_and_refuses_a_forged_one(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(webhook, "PAUSES", (0.0,))
    key = bytes(range(32))
    body = b'{"id":"job_1"}'
    for secret in ("whsec_" + base64.b64encode(key).decode(), key.hex()):
        seen: list[httpx.Request] = []

        def answer(request: httpx.Request, seen: list[httpx.Request] = seen) -> httpx.Response:
            seen.append(request)
            return httpx.Response(500 if len(seen) == 1 else 204)

        assert await webhooks(answer, clock=time.time, job_webhook_secret=secret).deliver(HOOK, body, "job_1")
        receiver = Webhook(secret if secret.startswith("whsec_") else secret.encode())
        for request in seen:
            assert receiver.verify(request.content, dict(request.headers)) == {"id": "job_1"}
            with pytest.raises(WebhookVerificationError):
                receiver.verify(b'{"id":"job_2"}', dict(request.headers))
        first, again = (request.headers["webhook-id"] for request in seen)
        assert first == again


async def test_messages_have_ids_of_their_own_and_no_signature_without_a_secret():
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(204)

    hooks = webhooks(answer, job_webhook_secret=None)
    for body in (b'{"status":"failed"}', b'{"status":"done"}'):
        assert await hooks.deliver(HOOK, body, "job_1")
    assert len({request.headers["webhook-id"] for request in seen}) == 2
    assert not any("webhook-signature" in request.headers for request in seen)


def test_a_secret_that_is_no_base64_is_refused_and_not_shown():
    for secret in ("whsec_not base64!", "whsec_", "whsec_A", ""):
        with pytest.raises(InvalidRequestError, match="job_webhook_secret") as refused:
            tone_settings(job_webhook_secret=secret)
        assert "not base64!" not in str(refused.value)


@each_row(
    ("url", "error"),
    [
        ("https://elsewhere.example.org/", ForbiddenError),
        ("https://hooks.example.org:8443/", ForbiddenError),
        ("https://93.184.216.34/", ForbiddenError),
        ("http://hooks.example.org/", InvalidRequestError),
        ("file:///etc/passwd", InvalidRequestError),
        ("https://user:word@hooks.example.org/", InvalidRequestError),
        ("https://localhost/", InvalidRequestError),
        ("https://2130706433/", InvalidRequestError),
        ("https://" + "a" * 3_000, InvalidRequestError),
        ("no url", InvalidRequestError),
    ],
)
def test_an_address_that_may_not_be_told_is_refused_at_once(url: str, error: type[Exception]):
    with pytest.raises(error):
        webhooks(lambda _: httpx.Response(204)).check(url)


def test_without_a_list_of_hosts_there_are_no_webhooks():
    with pytest.raises(ForbiddenError, match="job_webhook_hosts"):
        webhooks(lambda _: httpx.Response(204), job_webhook_hosts=[]).check(HOOK)


@pytest.mark.long
@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "::ffff:192.168.1.1"])
async def test_a_name_that_stands_for_a_private_address_is_not_called(address: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(webhook, "PAUSES", ())
    called: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        called.append(request)
        return httpx.Response(204)

    assert not await webhooks(answer, (PUBLIC, address)).deliver(HOOK, b"{}", "job_1")
    assert called == []
    assert await webhooks(answer, (address,), job_webhook_private=True).deliver(HOOK, b"{}", "job_1")


async def test_a_failure_is_tried_again_a_few_times_and_a_redirect_is_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(webhook, "PAUSES", (0.0, 0.0))
    answers = [httpx.Response(500), httpx.Response(302, headers={"location": "http://127.0.0.1/"}), httpx.Response(200)]
    left = list(answers)
    assert await webhooks(lambda _: left.pop(0)).deliver(HOOK, b"{}", "job_1")
    assert left == []
    calls: list[str] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        calls.append(str(request.url))
        raise httpx.ConnectError("refused")

    assert not await webhooks(refuse).deliver(HOOK, b"{}", "job_1")
    assert len(calls) == 3


@pytest.mark.long
async def test_the_end_of_a_job_is_told_and_a_hook_that_hangs_holds_nothing_up(tmp_path: Path):
    told: list[dict[str, Any]] = []

    async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):  # a server that closes cuts what it is sending
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            told.append(json.loads(await reader.readexactly(length)))
            if len(told) > 1:
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            else:
                await reader.read()  # no answer until the caller gives up
        writer.close()

    server = await asyncio.start_server(taken, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = {"job_webhook_hosts": [f"127.0.0.1:{port}"], "job_webhook_private": True}
    fields: dict[str, Any] = {"output": ["mp3"], "webhook": f"http://127.0.0.1:{port}/"}
    async with server:
        async with job_client(tmp_path, **settings) as client:
            first = await client.rested((await client.submitted(**fields))["id"])
            async with asyncio.timeout(10):
                while not told:  # noqa: ASYNC110 - the hook has no event of its own
                    await asyncio.sleep(0.01)
            second = await client.rested((await client.submitted(**fields))["id"])
        assert (first["status"], second["status"]) == ("done", "done")
        async with job_client(tmp_path, **settings) as client, asyncio.timeout(10):
            both = {first["id"], second["id"]}
            while {job["id"] for job in told[1:]} != both:  # noqa: ASYNC110 - nor has the next server
                await asyncio.sleep(0.01)
    assert told[0]["id"] == first["id"]
    assert {job["status"] for job in told} == {"done"}
