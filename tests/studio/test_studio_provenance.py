"""The Studio's page of provenance, driven in a browser."""

import httpx
import numpy as np
import pytest

from helpers.making_server import MakingServer, making_server
from helpers.studio_browser import assert_accessible, expect, launched, studio_page
from polyvox.audio.encode import AudioFormat, encode

pytestmark = pytest.mark.slow

NOISE = np.random.default_rng(0).uniform(-0.1, 0.1, 24_000).astype(np.float32)


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with making_server(tmp_path_factory.mktemp("provenance")) as server:
        yield server


def checked(page, data: bytes):
    page.get_by_label("Audio file").set_input_files({"name": "a.wav", "mimeType": "audio/wav", "buffer": data})
    page.get_by_role("button", name="Check").click()


def card(page, name: str):
    return page.locator("section.card").filter(has=page.get_by_role("heading", name=name, exact=True))


def test_a_file_of_this_server_is_found_to_be_synthetic(browser, server: MakingServer):
    spoken = httpx.post(f"{server.url}/v1/audio/speech", json={"input": "Hello there.", "response_format": "wav"})
    with studio_page(browser, f"{server.url}/web#/provenance") as page:
        checked(page, spoken.content)
        expect(page.get_by_text("This is synthetic speech")).to_be_visible()
        expect(card(page, "Tags")).to_contain_text("Found, confidence 50 %")
        expect(card(page, "Signature")).to_contain_text("Not found")
        expect(card(page, "Watermark")).to_contain_text("Not ")
        assert_accessible(page)
        checked(page, encode(NOISE, AudioFormat.WAV, 24_000))
        expect(page.get_by_text("does not mean that a person spoke")).to_be_visible()
