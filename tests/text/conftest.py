"""Tests that compare times: a collection of everybody's garbage must not fall into one of them."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()
