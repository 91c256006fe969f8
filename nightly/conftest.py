"""Tests against programs too large for every run: they share the other tests' helpers."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parent)]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
