"""The Studio in a frame of Home Assistant, behind its ingress."""

import pytest

from helpers.fakes import tone_service
from helpers.ingress import PREFIX, ingress
from helpers.serving import served
from helpers.studio_browser import launched, studio_page
from helpers.studio_engine import StudioEngine

pytestmark = pytest.mark.slow


def test_it_loads_and_speaks_in_a_frame_below_a_prefix_that_is_stripped():
    engine = StudioEngine(chunks=2, chunk_seconds=0.2)
    with (
        served(tone_service(engine)) as url,
        ingress(url) as (home, outside),
        launched() as browser,
        studio_page(browser, home) as page,
    ):
        studio = page.frame_locator("iframe")
        studio.get_by_label("Text", exact=True).fill("one two")
        studio.get_by_role("button", name="Speak", exact=True).click()
        studio.get_by_text("Finished").wait_for()
        assert page.frames[1].url.startswith(f"{home.rstrip('/')}{PREFIX}/")
        assert outside == []
    assert [each.text for each in engine.heard] == ["one two"]
