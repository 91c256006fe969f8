"""A server has loaded the language detector before it answers, so that no request waits for it."""

import pytest

from helpers.fakes import ToneEngine, tone_service
from polyvox.api.app import create_app
from polyvox.text import detect

pytestmark = pytest.mark.anyio


@pytest.mark.long
async def test_the_detector_is_loaded_when_the_application_has_started():
    detect._identifier.cache_clear()
    app = create_app(tone_service(ToneEngine()))
    async with app.router.lifespan_context(app):
        assert detect._identifier.cache_info().currsize == 1
