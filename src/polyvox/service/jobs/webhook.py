"""Messages to the hosts that the settings allow: signed, to the very address that was checked, and tried again.

Ids, times and signatures are those of Standard Webhooks. Two older headers stay for those who read them.
"""

import asyncio
import base64
import hashlib
import hmac
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import httpx
import structlog

from polyvox import __version__
from polyvox.config import Settings, webhook_key
from polyvox.errors import FetchError, ForbiddenError, InvalidRequestError
from polyvox.voices.recording.addresses import bracketed, is_allowed, is_number, is_public, plain_host
from polyvox.voices.recording.fetch import Resolve, Transport, direct, resolve

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

SIGNATURE_HEADER = "X-Polyvox-Signature"
EVENT_HEADER = "X-Polyvox-Job"
_PORTS = {"http": 80, "https": 443}
_LONGEST_URL = 2_048
_SECONDS = 10.0
_CONNECT_SECONDS = 3.0
_MOST_ADDRESSES = 4
PAUSES = (2.0, 10.0, 60.0, 300.0)
"""Seconds before each further attempt."""


@dataclass(frozen=True, slots=True)
class _Target:
    url: httpx.URL
    host: str


class Webhooks:
    """Posts messages. A host must be on the list of the settings, and public unless they say otherwise; redirects are
    not followed.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        resolve: Resolve = resolve,
        transport: Transport = direct,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._resolve = resolve
        self._transport = transport
        self._clock = clock

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context()

    def check(self, url: str) -> None:
        """Refuse an address that no message may go to."""
        self._target(url)

    async def deliver(self, url: str, body: bytes, job_id: str) -> bool:
        """Post a message, several times if need be; whether it was taken."""
        for pause in (*PAUSES, None):
            try:
                status = await self._attempt(self._target(url), body, job_id)
            except (httpx.HTTPError, InvalidRequestError, ForbiddenError, OSError, TimeoutError) as error:
                reason = str(error) or type(error).__name__
            else:
                if 200 <= status < 300:
                    log.info("webhook told", job=job_id)
                    return True
                reason = f"status {status}"
            log.warning("webhook not told", job=job_id, reason=reason, again_seconds=pause)
            if pause is not None:
                await asyncio.sleep(pause)
        return False

    def _target(self, url: str) -> _Target:
        if not self._settings.job_webhook_hosts:
            raise ForbiddenError("This server tells no webhooks; its setting job_webhook_hosts names the hosts.")
        try:
            parsed = httpx.URL(url) if len(url) <= _LONGEST_URL else None
        except (httpx.InvalidURL, ValueError):
            parsed = None
        if parsed is None:
            raise InvalidRequestError("'webhook' is not a valid URL; check it.", field="webhook")
        schemes = ("https", "http") if self._settings.job_webhook_private else ("https",)
        if parsed.scheme not in schemes:
            raise InvalidRequestError(f"'webhook' must start with {' or '.join(schemes)}://.", field="webhook")
        if parsed.userinfo:
            raise InvalidRequestError("'webhook' must not carry a user name or password.", field="webhook")
        host, usual = self._host(parsed), _PORTS[parsed.scheme]
        if not is_allowed(host, usual if parsed.port is None else parsed.port, usual, self._settings.job_webhook_hosts):
            raise ForbiddenError("This server may not tell that host and port; see its setting job_webhook_hosts.")
        return _Target(parsed, host)

    def _host(self, url: httpx.URL) -> str:
        raw = url.raw_host.decode("ascii")
        if self._settings.job_webhook_private and raw.lower() == "localhost":
            return "localhost"
        try:
            return plain_host(raw)
        except FetchError as error:
            raise InvalidRequestError(
                "'webhook' has neither a full domain name nor a usual IP address in it.", field="webhook"
            ) from error

    async def _attempt(self, target: _Target, body: bytes, job_id: str) -> int:
        failure: Exception | None = None
        async with asyncio.timeout(_SECONDS):
            for address in await self._addresses(target.host):
                try:
                    return await self._post(target, address, body, job_id)
                except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                    failure = error
        raise failure or OSError("the host has no address")

    async def _addresses(self, host: str) -> list[str]:
        found = [host] if is_number(host) else list(await self._resolve(host))
        if not self._settings.job_webhook_private and not all(map(is_public, found)):
            raise ForbiddenError("The webhook's host is not on the public internet.")
        return found[:_MOST_ADDRESSES]

    async def _post(self, target: _Target, address: str, body: bytes, job_id: str) -> int:
        shown = bracketed(target.host)
        headers = {
            "Host": shown if target.url.port is None else f"{shown}:{target.url.port}",
            "User-Agent": f"polyvox/{__version__}",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            EVENT_HEADER: job_id,
            **self._standard_headers(body),
        }
        timeout = httpx.Timeout(_SECONDS, connect=_CONNECT_SECONDS).as_dict()
        name = {} if is_number(target.host) else {"sni_hostname": target.host}
        request = httpx.Request(
            "POST",
            target.url.copy_with(host=address),
            headers=headers,
            content=body,
            extensions={"timeout": timeout, **name},
        )
        async with self._transport(self._tls) as transport:
            response = await transport.handle_async_request(request)
            await response.aclose()
            return response.status_code

    def _standard_headers(self, body: bytes) -> dict[str, str]:
        """The id of the message, which every attempt has, its time, and the HMAC of both and the body.

        With the time signed, an old message cannot be sent again unnoticed.
        """
        message_id, sent = f"msg_{hashlib.sha256(body).hexdigest()[:32]}", str(int(self._clock()))
        headers = {"webhook-id": message_id, "webhook-timestamp": sent}
        if (setting := self._settings.job_webhook_secret) is None:
            return headers
        secret = setting.get_secret_value()
        digest = hmac.digest(webhook_key(secret), f"{message_id}.{sent}.".encode() + body, "sha256")
        older = hmac.digest(secret.encode(), f"{sent}.".encode() + body, "sha256").hex()
        return headers | {
            "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
            SIGNATURE_HEADER: f"t={sent},v1={older}",
        }
