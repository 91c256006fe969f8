"""The Studio's "On this device" in a real browser: the page speaks by itself, also when the server is gone."""

import os
from pathlib import Path

import numpy as np
import pytest

from helpers.fakes import tone_service
from helpers.serving import served
from helpers.studio_browser import assert_accessible, expect, launched, studio_page, wait_until_marked
from helpers.web_package import COMPILED_ONCE
from polyvox.bundles.validate import open_bundle
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings
from polyvox.service.local_service import build_service

pytestmark = pytest.mark.slow

TEXT = "Good morning, everyone."
VOICE = "af_heart"
PATIENT = 120_000
"""Milliseconds that a model may take on a machine that is busy."""
LISTENER = """
window.pieces = [];
const createBuffer = AudioContext.prototype.createBuffer;
AudioContext.prototype.createBuffer = function (...shape) {
  const buffer = createBuffer.apply(this, shape);
  window.pieces.push(buffer);
  return buffer;
};
window.samples = () => window.pieces.flatMap((buffer) => [...buffer.getChannelData(0)]);
"""


@pytest.fixture(scope="module")
def browser():
    with launched(f"--js-flags={COMPILED_ONCE}") as browser:
        yield browser


@pytest.fixture(scope="module")
def url(models_dir, tmp_path_factory):
    """A server with Kokoro, which makes the files for browsers when they are first asked for."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "kokoro").symlink_to(open_bundle("kokoro", models_dir).folder)
    settings = load_settings(models=["wren"], models_dir=folder, data_dir=tmp_path_factory.mktemp("data"))
    with served(build_service(settings, Catalog.installed().factories)) as url:
        yield url


def speak(page) -> None:
    page.evaluate("window.pieces = []")
    page.get_by_role("button", name="Speak", exact=True).click()
    page.get_by_text("Finished").wait_for(timeout=PATIENT)


def heard(page) -> np.ndarray:
    return np.array(page.evaluate("window.samples()"), np.float32)


def test_a_server_that_may_not_make_the_files_says_what_to_run(browser, tmp_path):
    with (
        served(tone_service(models_dir=tmp_path, allow_pull=False)) as url,
        studio_page(browser, url, refused=True) as page,
    ):
        page.get_by_label("On this device").check()
        expect(page.get_by_role("alert")).to_contain_text("run: polyvox models browser")
        assert_accessible(page)


def test_a_page_that_is_not_secure_says_why_it_cannot_speak(browser, url):
    with studio_page(browser, url, script="Object.defineProperty(window, 'isSecureContext', {value: false});") as page:
        page.get_by_label("On this device").check()
        expect(page.get_by_text("only on pages over HTTPS")).to_be_visible()


def test_the_device_speaks_as_the_server_does_and_without_a_network(browser, url):
    with studio_page(browser, url, script=LISTENER, refused=True) as page:
        page.set_default_timeout(PATIENT)
        page.get_by_label("Text", exact=True).fill(TEXT)
        page.get_by_label("On this device").check()
        expect(page.get_by_text("Ready: reads English")).to_be_visible(timeout=PATIENT)
        assert_accessible(page)
        assert {"", VOICE, "bm_george"} <= set(voices_offered(page))
        speak(page)
        spoken = heard(page)
        wait_until_marked(page, "everyone")
        take_picture(page)
        page.context.set_offline(True)
        speak(page)
        again = heard(page)
        page.context.set_offline(False)
        with page.expect_download() as download:
            page.get_by_role("button", name="Download").click()
        saved = download.value.path().read_bytes()
        by_server = server_samples(page)
    assert np.abs(spoken).max() > 0.1
    assert np.array_equal(again, spoken)
    assert saved[:4] == b"RIFF"
    assert np.allclose(np.frombuffer(saved[44:], "<i2") / 32_768, spoken)
    assert abs(len(spoken) - len(by_server)) < 0.02 * len(by_server)


def voices_offered(page) -> list[str]:
    return page.get_by_label("Voice", exact=True).evaluate("(select) => [...select.options].map(({value}) => value)")


def server_samples(page) -> np.ndarray:
    """What the server itself makes of the text, with the same voice."""
    body = {"model": "wren", "input": TEXT, "voice": VOICE, "response_format": "pcm"}
    answer = page.request.post(f"{page.url.split('#')[0]}v1/audio/speech", data=body)
    assert answer.ok
    return np.frombuffer(answer.body(), "<i2")


def take_picture(page) -> None:
    """The picture of the documents, where STUDIO_PICTURES names a folder for it."""
    if folder := os.environ.get("STUDIO_PICTURES"):
        page.set_viewport_size({"width": 1180, "height": 820})
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(animations="disabled", path=Path(folder, "studio-device.png"))
