from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from polyvox.voices.recording.vad import SileroVad


@pytest.fixture(scope="session")
def detector() -> "SileroVad":
    from polyvox.voices.recording.vad import SileroVad

    return SileroVad()
