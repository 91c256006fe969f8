"""The engine in `Engine`'s docstring is whole: it speaks through a server's doors as it stands there."""

import inspect
import re
import textwrap
from typing import Any

import numpy as np
import pytest

from helpers.fakes import tone_settings
from helpers.serving import called
from polyvox import errors, types
from polyvox.engines import base
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.spec import EngineSpec
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics

pytestmark = pytest.mark.anyio


def example() -> dict[str, Any]:
    """The names that the docstring's program defines."""
    text = inspect.getdoc(base.Engine) or ""
    program = re.search(r"^    class HumEngine.*?(?=^\S)", text, re.DOTALL | re.MULTILINE)
    assert program is not None
    own = {"ChunkLedger": ChunkLedger, "EngineSpec": EngineSpec, "np": np}
    names = {**vars(base), **vars(errors), **vars(types), **own}
    exec(compile(textwrap.dedent(program[0]), "the docstring of Engine", "exec"), names)
    return names


async def test_it_speaks_and_refuses_over_http() -> None:
    spec = example()["HUM"]
    settings = tone_settings(models=["hum"], default_model="hum")
    service = SpeechService(settings, Registry(settings, spec.models), Metrics())
    async with called(service) as client:
        body = {"input": "Good morning.", "response_format": "pcm"}
        spoken = await client.post("/v1/audio/speech", json=body)
        refused = await client.post("/v1/audio/speech", json=body | {"voice": "shrill"})
    assert len(spoken.content) == 2 * 2 * 6_000
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "voice")
