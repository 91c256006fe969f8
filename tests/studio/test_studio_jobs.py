"""The Studio's page of books, driven in a browser."""

import re
from pathlib import Path

import httpx
import pytest

from helpers.making_server import MakingServer, making_server
from helpers.serving import decoded_seconds
from helpers.studio_browser import assert_accessible, expect, launched, studio_page, tab_to

pytestmark = pytest.mark.slow

BOOK = "# The first\n\nOne sentence. Another sentence.\n\n# The second\n\nThe last sentence.\n"


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with making_server(tmp_path_factory.mktemp("jobs")) as server:
        yield server


@pytest.fixture
def server(running: MakingServer):
    yield running
    running.engine.delay = 0.0
    for job in jobs_of(running):
        httpx.delete(f"{running.url}/v1/jobs/{job['id']}")


def jobs_of(server: MakingServer) -> list[dict]:
    return httpx.get(f"{server.url}/v1/jobs").json()["jobs"]


def card(page, name: str):
    cards = page.get_by_role("region", name="Your books").get_by_role("listitem")
    return cards.filter(has=page.get_by_role("heading", name=name, exact=True))


def write_book(page, title: str, text: str = BOOK) -> None:
    page.get_by_role("radio", name="A text").check()
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_label("Title", exact=True).fill(title)


def test_a_dropped_manuscript_becomes_an_m4b_with_chapters_and_subtitles(browser, server):
    with studio_page(browser, f"{server.url}/web#/jobs") as page:
        page.evaluate(
            """(text) => {
              const dragged = new DataTransfer();
              dragged.items.add(new File([text], 'tide.md', {type: 'text/markdown'}));
              document.querySelector('.drop').dispatchEvent(
                new DragEvent('drop', {dataTransfer: dragged, bubbles: true, cancelable: true}));
            }""",
            BOOK,
        )
        expect(page.get_by_text("tide.md is chosen.")).to_be_visible()
        page.get_by_label("Title", exact=True).fill("Tide")
        page.get_by_label("Voice").select_option("high")
        page.get_by_label("One mp3 for each chapter").check()
        page.get_by_label("vtt subtitles").check()
        page.get_by_role("button", name="Make the book").click()
        expect(card(page, "Tide").get_by_text("Done", exact=True)).to_be_visible()
        expect(card(page, "Tide")).to_contain_text("5 of 5 sentences")
        assert {said.voice for said in server.engine.heard} == {"high"}

        with page.expect_download() as download:
            card(page, "Tide").get_by_role("link", name=re.compile(r"\.m4b")).click()
        assert download.value.suggested_filename == "Tide.m4b"
        book = Path(download.value.path()).read_bytes()
        assert book[4:8] == b"ftyp"
        expect(card(page, "Tide")).to_contain_text(f" · {round(decoded_seconds(book))} s of speech")
        assert decoded_seconds(book) > 5
        expect(card(page, "Tide").get_by_role("link", name=re.compile(r"\.vtt"))).not_to_have_count(0)

        page.get_by_label("Listen to").select_option("1")
        player = card(page, "Tide").get_by_label("Tide, Chapter 2")
        player.evaluate("(audio) => audio.play()")
        expect(player).to_have_js_property("paused", False)
        card(page, "Tide").get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Yes").click()
        expect(page.get_by_text("There are none yet.")).to_be_visible()
        assert jobs_of(server) == []


def test_a_book_is_paused_goes_on_and_is_cancelled(browser, server):
    server.engine.delay = 0.3
    with studio_page(browser, f"{server.url}/web#/jobs") as page:
        write_book(page, "Slow", "One sentence here. " * 40)
        page.get_by_role("button", name="Make the book").click()
        expect(card(page, "Slow")).to_contain_text(re.compile(r"[1-9] of \d+ sentences"))
        expect(card(page, "Slow").get_by_role("progressbar")).to_have_count(1)
        page.get_by_role("button", name="Pause Slow").click()
        expect(card(page, "Slow").get_by_text("Paused", exact=True)).to_be_visible()
        page.get_by_role("button", name="Go on with Slow").click()
        expect(card(page, "Slow").get_by_text("Being spoken")).to_be_visible()
        card(page, "Slow").get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Yes").click()
        expect(card(page, "Slow").get_by_text("Cancelled", exact=True)).to_be_visible()
        assert [job["status"] for job in jobs_of(server)] == ["cancelled"]


def test_a_file_that_is_no_book_is_refused_with_the_reason(browser, server):
    with studio_page(browser, f"{server.url}/web#/jobs", refused=True) as page:
        page.get_by_role("button", name="Make the book").click()
        expect(page.get_by_role("alert")).to_contain_text("Choose a file, or drop one here.")
        page.get_by_label("Manuscript").set_input_files(
            {"name": "novel.epub", "mimeType": "application/epub+zip", "buffer": b"no archive"}
        )
        page.get_by_role("button", name="Make the book").click()
        expect(page.get_by_role("alert")).to_contain_text("EPUB")
        assert jobs_of(server) == []


def test_with_a_key_files_are_fetched_and_saved(browser, tmp_path):
    with making_server(tmp_path, api_keys=["secret"]) as server:
        keyed = "sessionStorage['polyvox.key'] = 'secret';"
        with studio_page(browser, f"{server.url}/web#/jobs", script=keyed) as page:
            write_book(page, "Mine", "A sentence.")
            page.get_by_role("button", name="Make the book").click()
            with page.expect_download() as download:
                card(page, "Mine").get_by_role("button", name=re.compile(r"\.m4b")).click()
            assert Path(download.value.path()).read_bytes()[4:8] == b"ftyp"
            card(page, "Mine").get_by_role("button", name="Listen").click()
            expect(page.get_by_label("Mine, ")).to_have_js_property("readyState", 4)


def test_by_keyboard_alone_a_book_is_made(browser, server):
    with studio_page(browser, f"{server.url}/web#/jobs") as page:
        tab_to(page, page.get_by_role("radio", name="A file"))
        page.keyboard.press("ArrowRight")
        tab_to(page, page.get_by_label("Text", exact=True))
        page.keyboard.type("A sentence.")
        page.keyboard.press("Tab")
        page.keyboard.type("Typed")
        page.keyboard.press("Enter")
        expect(card(page, "Typed").get_by_text("Done", exact=True)).to_be_visible()


def test_books_pass_axe_and_fit_the_screen(browser, server):
    with studio_page(browser, f"{server.url}/web#/jobs") as page:
        write_book(page, "Seen")
        page.get_by_label("One mp3 for each chapter").check()
        page.get_by_role("button", name="Make the book").click()
        expect(card(page, "Seen").get_by_text("Done", exact=True)).to_be_visible()
        server.engine.delay = 0.3
        write_book(page, "Unfinished", "One sentence here. " * 40)
        page.get_by_role("button", name="Make the book").click()
        page.get_by_role("button", name="Pause Unfinished").click()
        page.get_by_role("button", name="Go on with Unfinished").wait_for()
        assert_accessible(page)
