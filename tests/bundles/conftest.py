from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.loopback_hub import LoopbackHub


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
