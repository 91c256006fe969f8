from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.loopback_hub import LoopbackHub
from polyvox.bundles import pull


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = LoopbackHub()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _no_hub_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The tests must not find files in the cache of this machine's user."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub-cache"))


@pytest.fixture
def without_companions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are pulled by themselves: Kokoro, which lends them its voices, is a real one of 100 MB."""
    named = pull.manifest_named
    monkeypatch.setattr(pull, "manifest_named", lambda name: named(name).model_copy(update={"companions": ()}))
