"""The announcement of the Wyoming port by mDNS."""

import asyncio
import ipaddress

import pytest
from zeroconf import ServiceStateChange
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from helpers.wyoming import served_wyoming
from polyvox import extras
from polyvox.api.dialects.wyoming import discovery
from polyvox.api.dialects.wyoming.discovery import SERVICE_TYPE
from polyvox.errors import UnavailableError

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.long
async def test_the_network_hears_of_the_server_for_as_long_as_it_runs() -> None:
    changes: asyncio.Queue[tuple[str, ServiceStateChange]] = asyncio.Queue()

    def changed(zeroconf: object, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        changes.put_nowait((name, state_change))

    listening = AsyncZeroconf(interfaces=["127.0.0.1"])
    browser = AsyncServiceBrowser(listening.zeroconf, SERVICE_TYPE, handlers=[changed])
    try:
        async with asyncio.timeout(20):
            async with served_wyoming(wyoming_mdns=True) as served:
                name, state = await changes.get()
                info = AsyncServiceInfo(SERVICE_TYPE, name)
                assert await info.async_request(listening.zeroconf, 5_000)
            gone = await changes.get()
    finally:
        await browser.async_cancel()
        await listening.async_close()
    assert state is ServiceStateChange.Added
    assert name.startswith("polyvox-")
    assert (info.port, info.parsed_addresses()) == (served.port, ["127.0.0.1"])
    assert gone == (name, ServiceStateChange.Removed)


async def test_without_the_package_the_server_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match=r"pip install -e '\.\[wyoming\]'"):
        async with served_wyoming(wyoming_mdns=True):
            pass


async def test_a_machine_without_a_network_serves_unannounced(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(host: str) -> ipaddress.IPv4Address:
        raise OSError("Network is unreachable")

    monkeypatch.setattr(discovery, "_reachable", nowhere)
    async with served_wyoming(wyoming_mdns=True) as served, await served.connect() as client:
        await client.send("ping")
        answer = await client.read()
    assert answer is not None
    assert answer.type == "pong"
