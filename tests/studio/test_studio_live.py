"""The Studio's page for those who run the server, driven in a browser."""

import re
import threading

import httpx
import pytest

from helpers.making_server import MakingServer, making_server
from helpers.studio_browser import assert_accessible, expect, launched, studio_page
from polyvox.runtime.gpu_usage import GpuUsage

pytestmark = pytest.mark.slow

GIB = 2**30


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    gpus = [GpuUsage(0, "H200", 30 * GIB, 120 * GIB, 0.5)]
    with making_server(tmp_path_factory.mktemp("live"), gpus) as server:
        yield server


def speak(server: MakingServer, **fields: str) -> httpx.Response:
    body = {"input": "Some words.", "voice": "low"} | fields
    return httpx.post(f"{server.url}/v1/audio/speech", json=body, timeout=60)


def chart(page, name: str):
    return page.get_by_role("img", name=re.compile(f"^{name}: "))


def test_a_stream_its_first_audio_and_a_failure_are_seen(browser, server):
    server.engine.delay = 1.5
    with studio_page(browser, f"{server.url}/web#/live") as page:
        expect(page.get_by_text("There were none since the server has started.")).to_be_visible()
        stream = threading.Thread(target=speak, args=(server,))
        stream.start()
        expect(chart(page, "Streams")).to_have_accessible_name("Streams: being spoken 1, waiting 0", timeout=10_000)
        assert chart(page, "Streams").locator("path").first.get_attribute("d").count("L") >= 1
        server.engine.delay = 0.0
        stream.join()
        assert speak(server, voice="nobody").status_code == 400
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Failed: voice_not_found"))
        expect(row).to_contain_text("11", timeout=10_000)  # one in the last minute, one since the start
        expect(chart(page, "First audio")).to_have_accessible_name(re.compile(r"p50 [\d.]+ m?s, p95 [\d.]+ m?s"))
        expect(chart(page, "Streams")).to_have_accessible_name("Streams: being spoken 0, waiting 0")


def test_a_page_that_is_opened_later_counts_what_the_server_did_before(browser, server):
    assert speak(server, voice="nobody").status_code == 400
    with studio_page(browser, f"{server.url}/web#/live") as page:
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Failed: voice_not_found"))
        expect(row).to_be_visible()
        total = int(row.get_by_role("cell").nth(1).inner_text())
        assert 1 <= int(row.get_by_role("cell").nth(0).inner_text()) <= total


def test_gpus_are_drawn_and_the_page_passes_axe_and_fits_the_screen(browser, server):
    speak(server, voice="nobody")
    with studio_page(browser, f"{server.url}/web#/live") as page:
        expect(chart(page, "GPU 0: H200")).to_have_accessible_name("GPU 0: H200: busy 50 %, memory 25 %")
        expect(page.get_by_text("30.0 GiB of 120.0 GiB")).to_be_visible()
        assert_accessible(page)
