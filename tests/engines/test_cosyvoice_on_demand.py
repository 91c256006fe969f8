"""A real engine that is loaded for a request: made off the event loop, freed when it is unloaded, and loaded again."""

from functools import partial
from weakref import WeakSet

import pytest

from helpers.fakes import ToneEngine, tone_settings
from helpers.serving import called
from helpers.tiny_cosyvoice import let_speech_end, tiny_model
from polyvox.engines.catalog import Catalog
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.service.local_service import build_service

pytestmark = pytest.mark.anyio


@pytest.mark.long
async def test_it_speaks_is_freed_and_speaks_again(tmp_path):
    folder = let_speech_end(tiny_model(tmp_path / "model", 3))
    settings = tone_settings(cosyvoice3_dir=folder, cosyvoice_device="cpu", allow_unload=True, models_dir=tmp_path)
    catalog, engines = Catalog.installed(), WeakSet()

    def made(settings):
        engine = catalog.factories["cosyvoice3"](settings)
        engines.add(engine)
        return engine

    factories = {"tone": lambda _: ToneEngine(), **catalog.factories, "cosyvoice3": made}
    request = {"model": "cosyvoice3", "voice": "spk_a", "input": "the wall.", "response_format": "pcm", "seed": 1}
    async with called(build_service(settings, factories, partial(catalog.absence, settings=settings))) as client:
        first = await client.post("/v1/audio/speech", json=request)
        assert [type(engine) for engine in engines] == [CosyVoiceEngine]
        unloaded = await client.post("/dev/unload")
        assert not engines
        again = await client.post("/v1/audio/speech", json=request)
        absent = await client.post("/v1/audio/speech", json=request | {"model": "cosyvoice2"})
    assert first.status_code == 200
    assert first.content == again.content
    assert unloaded.json()["models"] == ["cosyvoice3"]
    assert absent.status_code == 501
    assert "polyvox pull cosyvoice2" in absent.json()["error"]["message"]
