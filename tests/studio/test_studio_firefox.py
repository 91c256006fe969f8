"""A short walk over all pages of the Studio in Firefox; what each of them does is tried in Chromium.

Without a sound card Firefox's clock of WebAudio stands still, so that the end of a speech is not waited for.
"""

import json

import pytest

from helpers.fakes import tone_service
from helpers.firefox import firefox
from helpers.serving import served
from helpers.studio_browser import PHONE
from helpers.studio_engine import StudioEngine

pytestmark = pytest.mark.slow

TITLES = {
    "speak": "Speak",
    "gallery": "Gallery",
    "mix": "Mix",
    "compare": "Compare",
    "voices": "My voices",
    "dialogue": "Dialogue",
    "dictionary": "Dictionary",
    "jobs": "Books",
    "live": "Live",
    "settings": "Settings",
    "nowhere": "No such page",
}
DESK = (1180, 820)


def test_firefox_receives_speech_marks_its_first_word_and_shows_every_page_whole(tmp_path) -> None:
    with served(tone_service(StudioEngine(chunks=6, chunk_seconds=0.3))) as url, firefox(tmp_path) as browser:
        browser.resize(DESK)
        browser.go(url)
        browser.wait_for("document.querySelector('textarea') && document.querySelector('option[value=high]')")
        browser.evaluate("document.querySelector('.button.primary').click()")
        browser.wait_for("document.querySelector('.word.heard')")
        browser.wait_for("document.querySelector('.player-time').textContent.endsWith(' / 0:01')")
        for size in (DESK, PHONE):
            browser.resize(size)
            for name, title in TITLES.items():
                browser.evaluate(f"void (location.hash = '#/{name}')")
                browser.wait_for(f"document.querySelector('h1')?.textContent === {json.dumps(title)}")
                assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, size)
                assert browser.evaluate("document.querySelector('.player') !== null"), (name, size)
        assert browser.errors == []
