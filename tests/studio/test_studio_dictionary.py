"""The Studio's page of dictionaries, driven in a browser."""

import httpx
import pytest

from helpers.making_server import MakingServer, making_server
from helpers.studio_browser import assert_accessible, expect, launched, studio_page, tab_to

pytestmark = pytest.mark.slow

LEXICON = b"""<?xml version="1.0" encoding="UTF-8"?>
<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en">
  <lexeme><grapheme>Nguyen</grapheme><alias>win</alias></lexeme>
  <lexeme><grapheme>GIF</grapheme><phoneme>d\xca\x92\xc9\xaaf</phoneme></lexeme>
</lexicon>"""


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with making_server(tmp_path_factory.mktemp("dictionary")) as server:
        yield server


@pytest.fixture
def server(running: MakingServer):
    yield running
    for each in httpx.get(f"{running.url}/v1/dictionaries").json()["dictionaries"]:
        httpx.delete(f"{running.url}/v1/dictionaries/{each['name']}")


def put(server: MakingServer, name: str, *entries: dict) -> None:
    httpx.put(f"{server.url}/v1/dictionaries/{name}", json={"entries": entries}).raise_for_status()


def entries_of(server: MakingServer, name: str) -> list[dict]:
    return httpx.get(f"{server.url}/v1/dictionaries/{name}").json()["entries"]


def test_a_dictionary_is_made_edited_tried_heard_and_deleted(browser, server):
    with studio_page(browser, f"{server.url}/web#/dictionary") as page:
        page.get_by_label("Name of a new dictionary").fill("names")
        page.get_by_role("button", name="Make").click()
        page.get_by_role("button", name="Add an entry").click()
        page.get_by_label("Written", exact=True).fill("Nguyen")
        page.get_by_label("Said", exact=True).fill("win")
        page.get_by_label("Use it for everything I have spoken").check()
        expect(page.get_by_text("Not saved yet.")).to_be_visible()
        page.get_by_label("Text", exact=True).fill("Ask Nguyen, please.")
        page.get_by_role("button", name="Save and try").click()
        expect(page.locator("mark")).to_have_text("Nguyen")
        expect(page.get_by_text("Ask win, please.")).to_be_visible()
        expect(page.get_by_text("names (1)")).to_be_visible()
        assert entries_of(server, "names") == [{"kind": "word", "match": "Nguyen", "say": "win"}]

        page.get_by_role("button", name="Hear it").click()
        expect(page.get_by_label("The text with the dictionary")).to_have_js_property("readyState", 4)
        page.get_by_role("button", name="Remove the entry Nguyen").click()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("names (0)")).to_be_visible()
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Yes").click()
        expect(page.get_by_text("There are none yet.")).to_be_visible()


def test_a_lexicon_is_imported(browser, server):
    with studio_page(browser, f"{server.url}/web#/dictionary") as page:
        page.get_by_label("Name of a new dictionary").fill("w3c")
        page.get_by_label("Import (optional)").set_input_files(
            {"name": "words.pls", "mimeType": "application/pls+xml", "buffer": LEXICON}
        )
        page.get_by_role("button", name="Import", exact=True).click()
        expect(page.get_by_label("Written", exact=True)).to_have_count(2)
        assert [(each["match"], each.get("say"), each.get("phonemes")) for each in entries_of(server, "w3c")] == [
            ("Nguyen", "win", None),
            ("GIF", None, "dʒɪf"),
        ]
        expect(page.get_by_label("Or in IPA").nth(1)).to_have_value("dʒɪf")


def test_the_entry_that_the_server_refuses_is_shown_with_the_reason(browser, server):
    put(server, "wrong", *({"kind": "word", "match": f"word{index}", "say": "x"} for index in range(150)))
    with studio_page(browser, f"{server.url}/web#/dictionary", refused=True) as page:
        expect(page.get_by_text("The first 100 of 150 entries are shown.")).to_be_visible()
        page.get_by_label("Search").fill("word149")
        page.get_by_label("Kind").select_option("regex")
        page.get_by_label("Written", exact=True).fill("(")
        page.get_by_label("Search").fill("word1")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("entries[149]")
        expect(page.locator(".entry.wrong").get_by_label("Written", exact=True)).to_have_value("(")
        page.get_by_label("Name of a new dictionary").fill("wrong")
        page.get_by_role("button", name="Make").click()
        expect(page.get_by_role("alert").first).to_contain_text("You have a dictionary of this name already.")


def test_by_keyboard_alone_an_entry_is_written_and_saved(browser, server):
    put(server, "keys")
    with studio_page(browser, f"{server.url}/web#/dictionary") as page:
        tab_to(page, page.get_by_role("button", name="Add an entry"))
        page.keyboard.press("Enter")
        expect(page.get_by_label("Written", exact=True)).to_be_focused()
        page.keyboard.type("tomato")
        page.keyboard.press("Tab")
        page.keyboard.type("tomahto")
        tab_to(page, page.get_by_role("button", name="Save", exact=True))
        page.keyboard.press("Space")
        expect(page.get_by_text("keys is saved.")).to_be_visible()
        assert entries_of(server, "keys") == [{"kind": "word", "match": "tomato", "say": "tomahto"}]


def test_a_dictionary_passes_axe_and_fits_the_screen(browser, server):
    put(server, "seen", {"kind": "word", "match": "GIF", "phonemes": "dʒɪf"}, {"match": "tomato", "say": "tomahto"})
    with studio_page(browser, f"{server.url}/web#/dictionary") as page:
        page.get_by_label("Text", exact=True).fill("A tomato in a GIF.")
        page.get_by_role("button", name="Try", exact=True).click()
        expect(page.locator("mark")).to_have_text(["tomato", "GIF"])
        expect(page.get_by_text("A tomahto in a /dʒɪf/.")).to_be_visible()
        assert_accessible(page)
