"""The Studio's page of one's own voices, driven in a browser."""

import re
import threading

import httpx
import pytest

from helpers.cloning import CloneEngine
from helpers.making_server import FIT_STEPS, MakingServer, making_server, recording
from helpers.studio_browser import assert_accessible, expect, launched, studio_page, tab_to
from polyvox.bundles.progress import Progress
from polyvox.config import Settings
from polyvox.service.registry.model_pulls import ModelPulls
from polyvox.service.voices import voice_needs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with making_server(tmp_path_factory.mktemp("voices")) as server:
        yield server


@pytest.fixture
def server(running: MakingServer):
    yield running
    running.fits.held = False
    for voice in voices_of(running):
        httpx.delete(f"{running.url}/v1/voices/{voice['id']}")


@pytest.fixture
def page(browser, server: MakingServer):
    with studio_page(browser, f"{server.url}/web#/voices", permissions=["microphone"]) as page:
        yield page


def voices_of(server: MakingServer) -> list[dict]:
    return httpx.get(f"{server.url}/v1/voices").json()["data"]


def card(page, name: str, section: str = "Registered voices"):
    cards = page.get_by_role("region", name=section).get_by_role("listitem")
    return cards.filter(has=page.get_by_role("heading", name=name, exact=True)).first


def upload(page, name: str, data: bytes = recording()) -> None:
    page.get_by_label("Audio file").set_input_files({"name": "a.wav", "mimeType": "audio/wav", "buffer": data})
    page.get_by_label("Name", exact=True).fill(name)


def record(page) -> None:
    page.get_by_role("radio", name="Microphone").check()
    page.get_by_role("button", name="Start recording").click()
    expect(page.get_by_text("Recording. It stops by itself")).to_be_visible()
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Stop recording").click()
    expect(page.get_by_label("Your recording")).to_be_visible()


def consent(page) -> None:
    page.get_by_label("It is my own voice").check()


def test_an_uploaded_voice_is_judged_heard_renamed_and_deleted(page, server):
    upload(page, "Anna")
    page.get_by_label("Words of the recording").fill("Some tones.")
    page.get_by_role("button", name="Add voice").click()
    added = page.get_by_role("status").filter(has_text="Anna was added.")
    expect(added).to_contain_text("Good recording")
    expect(added).to_contain_text("Background noise: none to speak of")
    assert [(voice["name"], voice["transcript"], voice["consent"]) for voice in voices_of(server)] == [
        ("Anna", "Some tones.", False)
    ]

    card(page, "Anna").get_by_role("button", name="Hear a sample").click()
    expect(page.get_by_label("Anna, sample")).to_have_js_property("readyState", 4)
    card(page, "Anna").get_by_role("button", name="Recording").click()
    expect(page.get_by_label("Anna, recording")).to_have_js_property("readyState", 4)

    card(page, "Anna").get_by_role("button", name="Edit").click()
    page.get_by_label("New name").fill("Anne")
    page.get_by_label("Its words").fill("Other tones.")
    page.get_by_role("button", name="Save").click()
    expect(card(page, "Anne")).to_be_visible()
    assert [(voice["name"], voice["transcript"]) for voice in voices_of(server)] == [("Anne", "Other tones.")]

    card(page, "Anne").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="No").click()
    card(page, "Anne").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Yes").click()
    expect(page.get_by_text("There are none yet.")).to_be_visible()
    assert voices_of(server) == []


def test_a_voice_is_recorded_with_the_microphone(page, server):
    record(page)
    page.get_by_label("Name", exact=True).fill("Mike")
    page.get_by_role("button", name="Add voice").click()
    expect(card(page, "Mike")).to_be_visible()
    assert voices_of(server)[0]["duration"] > 1


def test_a_voice_from_the_microphone_speaks_at_once_by_the_model_that_needs_no_words(browser, tmp_path):
    parrot = CloneEngine("parrot", wordless=True)
    with (
        making_server(tmp_path, other=parrot, models_dir=tmp_path / "models") as server,
        studio_page(browser, f"{server.url}/web#/voices", permissions=["microphone"]) as page,
    ):
        expect(page.get_by_text("Not needed: the voice speaks without them.")).to_be_visible()
        record(page)
        page.get_by_label("Name", exact=True).fill("Mike")
        page.get_by_role("button", name="Add voice").click()
        expect(card(page, "Mike")).to_be_visible()
        assert "are missing" not in card(page, "Mike").inner_text()
        card(page, "Mike").get_by_role("button", name="Hear a sample").click()
        expect(page.get_by_label("Mike, sample")).to_have_js_property("readyState", 4)
        assert len(parrot.heard) == 1


def test_the_server_s_reason_is_shown_where_it_takes_no_recording(browser, server):
    with studio_page(browser, f"{server.url}/web#/voices", refused=True) as page:
        page.get_by_role("button", name="Add voice").click()
        expect(page.get_by_role("alert")).to_contain_text("The recording is missing.")
        page.get_by_role("radio", name="Web address").check()
        page.get_by_label("Address of the audio file").fill("https://example.org/page")
        page.get_by_label("Name", exact=True).fill("Webb")
        page.get_by_role("button", name="Add voice").click()
        expect(page.get_by_role("alert")).to_contain_text("cannot be read")
        page.get_by_label("Address of the audio file").fill("https://example.org/webb.wav")
        page.get_by_role("button", name="Add voice").click()
        expect(card(page, "Webb")).to_be_visible()
        page.get_by_role("radio", name="A file").check()
        upload(page, "Quiet", recording(level=0.003))
        page.get_by_role("button", name="Add voice").click()
        expect(page.get_by_role("alert")).to_contain_text("record it closer to the microphone")
        upload(page, "webb")
        page.get_by_role("button", name="Add voice").click()
        expect(page.get_by_role("alert")).to_contain_text("already")
        assert [voice["name"] for voice in voices_of(server)] == ["Webb"]


def test_a_fit_shows_its_progress_and_similarity_and_becomes_a_voice(page, server):
    upload(page, "Berta")
    page.get_by_role("radio", name="Kokoro").check()
    page.get_by_role("button", name="Start fitting").click()
    expect(page.get_by_role("alert")).to_contain_text("only if the speaker has agreed")
    consent(page)
    page.get_by_role("button", name="Start fitting").click()
    expect(page.get_by_text(re.compile(rf"Being fitted: step [1-9] of {FIT_STEPS}"))).to_be_visible()
    assert 0 < float(page.get_by_role("progressbar").get_attribute("value")) < 1
    expect(card(page, "Berta").get_by_text("3.0 s · fitted for tone")).to_be_visible()
    expect(card(page, "Berta", "Fits")).to_contain_text("Similarity to the recording 0.60.")
    curve = page.get_by_role("img", name=re.compile(r"Similarity over the steps, from 0\.\d\d to 0\.60"))
    assert len(curve.locator("polyline").get_attribute("points").split()) >= 2
    assert voices_of(server)[0]["quality"]["fitted"]["similarity"] == 0.6


def test_a_fit_can_be_cancelled(page, server):
    server.fits.held = True
    upload(page, "Carla")
    page.get_by_role("radio", name="Kokoro").check()
    consent(page)
    page.get_by_role("button", name="Start fitting").click()
    page.get_by_role("button", name="Cancel fitting Carla").click()
    expect(card(page, "Carla", "Fits")).to_contain_text("Cancelled")
    assert voices_of(server) == []


def test_by_keyboard_alone_a_voice_is_added_and_deleted(page, server):
    page.get_by_label("Audio file").set_input_files(
        {"name": "a.wav", "mimeType": "audio/wav", "buffer": recording()}
    )  # the system's own dialog, which no test can press keys in
    tab_to(page, page.get_by_label("Name", exact=True))
    page.keyboard.type("Dora")
    page.keyboard.press("Enter")
    tab_to(page, card(page, "Dora").get_by_role("button", name="Delete"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="No")).to_be_focused()
    tab_to(page, page.get_by_role("button", name="Yes"))
    page.keyboard.press("Space")
    expect(page.get_by_text("There are none yet.")).to_be_visible()
    assert voices_of(server) == []


def test_voices_and_fits_pass_axe_and_fit_the_screen(browser, server):
    server.fits.held = True
    with studio_page(browser, f"{server.url}/web#/voices") as page:
        upload(page, "Emma")
        page.get_by_role("button", name="Add voice").click()
        card(page, "Emma").get_by_role("button", name="Edit").click()
        card(page, "Emma").get_by_text("Quality of the recording").click()
        upload(page, "Frida")
        page.get_by_role("radio", name="Kokoro").check()
        consent(page)
        page.get_by_role("button", name="Start fitting").click()
        page.get_by_role("button", name="Cancel fitting Frida").wait_for()
        assert_accessible(page)
        page.get_by_role("button", name="Cancel fitting Frida").click()
        expect(card(page, "Frida", "Fits")).to_contain_text("Cancelled")


class SteppingHub:
    """Fetches a model when it is told to, and then has it."""

    def __init__(self) -> None:
        self.going = threading.Event()

    def __call__(self, model: str, settings: Settings, progress: Progress) -> None:
        with progress.task(f"Fetching {model}", 4_000_000) as advance:
            advance(1_000_000)
            while not self.going.wait(0.02):
                advance(0)
            advance(3_000_000)


def test_what_is_missing_is_named_and_fetched_with_progress(browser, tmp_path, monkeypatch):
    hub, have = SteppingHub(), set()
    monkeypatch.setattr(ModelPulls.__init__, "__defaults__", (hub,))
    monkeypatch.setattr(voice_needs, "_installed", lambda manifest, settings: manifest.name in have)
    with (
        making_server(tmp_path, models_dir=tmp_path / "models", host="127.0.0.1") as server,
        studio_page(browser, f"{server.url}/web#/voices") as page,
    ):
        missing = page.locator("section").filter(has=page.get_by_role("heading", name="What is missing"))
        expect(missing).to_contain_text("moonshine-base")
        expect(missing).to_contain_text("65.0 MB; licence: code MIT, weights MIT")
        expect(page.get_by_text("Write them yourself")).to_be_visible()
        assert_accessible(page)
        page.get_by_role("button", name="Fetch moonshine-base").click()
        expect(missing.get_by_role("status")).to_contain_text("Fetching moonshine-base: 1.0 MB of 4.0 MB")
        page.get_by_role("button", name="Stop fetching moonshine-base").click()
        expect(missing).to_contain_text("Stopped; what is fetched of moonshine-base is kept.")

        page.get_by_role("button", name="Fetch moonshine-base").click()
        expect(missing.get_by_role("status")).to_be_visible()
        have.add("moonshine-base")
        hub.going.set()
        expect(page.get_by_role("button", name="Fetch moonshine-base")).to_have_count(0, timeout=10_000)
        expect(page.get_by_text("Leave it empty to have the server write them down")).to_be_visible()


def test_who_may_not_fetch_is_told_the_command(browser, tmp_path):
    with (
        making_server(tmp_path, models_dir=tmp_path / "models", allow_pull=False) as server,
        studio_page(browser, f"{server.url}/web#/voices") as page,
    ):
        expect(page.get_by_text("polyvox pull moonshine-base")).to_be_visible()
        expect(page.get_by_role("button", name="Fetch moonshine-base")).to_have_count(0)
