"""The Studio's page of dialogues, driven in a browser."""

from pathlib import Path

import pytest

from helpers.making_server import MakingServer, making_server
from helpers.studio_browser import assert_accessible, expect, launched, studio_page, tab_to

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with making_server(tmp_path_factory.mktemp("dialogue")) as server:
        yield server


@pytest.fixture
def page(browser, server: MakingServer):
    server.engine.heard.clear()
    with studio_page(browser, f"{server.url}/web#/dialogue") as page:
        expect(page.get_by_label("Voice of turn 2")).to_have_value("high")
        yield page


def turns_on(page) -> list[tuple[str, str]]:
    rows = page.get_by_role("listitem", name="Turn ").all()
    return [(row.get_by_role("combobox").input_value(), row.get_by_role("textbox").input_value()) for row in rows]


FIRST = "First words, and so many of them that a slow machine can see them being spoken."
LAST = "Last words, which are as many, so that nobody can miss the mark beside them either."


def test_turns_are_written_moved_and_spoken_and_the_one_that_is_heard_is_marked(page, server):
    page.get_by_label("Text of turn 1").fill(FIRST)
    page.get_by_role("button", name="Add a turn").click()
    expect(page.get_by_label("Text of turn 3")).to_be_focused()
    page.keyboard.type(LAST)
    page.get_by_label("Voice of turn 3").select_option("low")
    page.get_by_role("button", name="Move turn 3 up").click()
    page.get_by_role("button", name="Remove turn 3").click()
    assert turns_on(page) == [("low", FIRST), ("low", LAST)]
    page.get_by_label("Voice of turn 2").select_option("high")

    page.get_by_role("button", name="Speak", exact=True).click()
    for place in (1, 2):
        expect(page.locator(".turn").nth(place - 1)).to_have_class("card turn spoken")
        expect(page.get_by_text(f"Turn {place} is spoken.")).to_be_attached()
    expect(page.get_by_role("button", name="Stop")).not_to_be_visible()
    assert [(said.voice, said.text) for said in server.engine.heard] == [
        ("low", FIRST),
        ("high", LAST),
    ]


def test_pause_holds_a_dialogue_and_stop_ends_it(page, server):
    page.get_by_role("button", name="Speak", exact=True).click()
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".turn.spoken")).to_have_count(0)


def test_a_dialogue_is_downloaded_and_kept_for_the_next_visit(page):
    page.get_by_label("Text of turn 2").fill("Kept words.")
    page.get_by_label("Format").select_option("wav")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the dialogue").click()
    assert download.value.suggested_filename == "dialogue.wav"
    assert Path(download.value.path()).read_bytes().startswith(b"RIFF")
    page.reload()
    expect(page.get_by_label("Text of turn 2")).to_have_value("Kept words.")


def test_a_script_is_pasted_as_text_and_a_mistake_in_it_is_named(browser, server):
    with studio_page(browser, f"{server.url}/web#/dialogue", refused=True) as page:
        page.get_by_text("As text").click()
        page.get_by_label("Script").fill("low: One.\nno voice here")
        page.get_by_role("button", name="Use this script").click()
        expect(page.get_by_role("alert")).to_contain_text("Line 2 has no voice")
        page.get_by_label("Script").fill("low: One\n  and a half.\nnobody: Two.")
        page.get_by_role("button", name="Use this script").click()
        assert turns_on(page) == [("low", "One and a half."), ("nobody", "Two.")]
        expect(page.get_by_label("Voice of turn 2")).to_contain_text("nobody (not of this model)")
        page.get_by_role("button", name="Speak", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("nobody")


def test_a_cast_has_names_that_turns_and_scripts_use_and_words_are_replaced_in_all_turns(page, server, tmp_path):
    page.get_by_text("Cast", exact=True).click()
    page.get_by_role("button", name="Add a speaker").click()
    page.get_by_label("Name of speaker 1").fill("Anna")
    page.get_by_label("Voice of speaker 1").select_option("high")
    page.get_by_text("As text").click()
    page.get_by_label("Script").fill("Anna: The tide is out.\nlow: The tide, you say.\n")
    page.get_by_role("button", name="Use this script").click()
    expect(page.get_by_label("Voice of turn 1").locator("option:checked")).to_have_text("Anna")
    page.get_by_text("Find and replace").click()
    page.get_by_label("Find", exact=True).fill("tide")
    expect(page.get_by_text("2 found")).to_be_visible()
    page.get_by_label("Replace with").fill("sea")
    page.get_by_role("button", name="Replace all").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save cast and turns").click()
    download.value.save_as(tmp_path / "dialogue.json")
    page.get_by_role("button", name="Remove speaker 1").click()
    assert turns_on(page) == [("high", "The sea is out."), ("low", "The sea, you say.")]
    page.get_by_label("Open a saved dialogue").set_input_files(tmp_path / "dialogue.json")
    expect(page.get_by_label("Script")).to_have_value("Anna: The sea is out.\nlow: The sea, you say.\n")
    with page.expect_request("**/v1/audio/dialogue") as asked:
        page.get_by_role("button", name="Speak", exact=True).click()
    assert [turn["voice"] for turn in asked.value.post_data_json["turns"]] == ["high", "low"]


def test_by_keyboard_alone_turns_are_moved_and_spoken(page, server):
    tab_to(page, page.get_by_label("Text of turn 1"))
    page.keyboard.press("Control+A")
    page.keyboard.type(LAST)
    page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_label("Text of turn 2")).to_have_value(LAST)
    expect(page.get_by_label("Text of turn 2")).to_be_focused()
    tab_to(page, page.get_by_role("button", name="Speak", exact=True))
    page.keyboard.press("Enter")
    expect(page.locator(".turn").nth(1)).to_have_class("card turn spoken")
    assert [said.text for said in server.engine.heard][-1] == LAST


def test_a_dialogue_passes_axe_and_fits_the_screen_while_it_is_spoken(browser, server):
    with studio_page(browser, f"{server.url}/web#/dialogue") as page:
        page.get_by_text("As text").click()
        page.get_by_role("button", name="Speak", exact=True).click()
        page.locator(".turn.spoken").first.wait_for()
        page.get_by_role("button", name="Pause", exact=True).click()
        assert_accessible(page)
