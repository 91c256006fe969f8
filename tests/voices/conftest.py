import pytest

from polyvox.voices.vad import SileroVad


@pytest.fixture(scope="session")
def detector() -> SileroVad:
    return SileroVad()
