from pathlib import Path

import pytest

from polyvox.bundles.progress import SilentProgress
from polyvox.bundles.pull import pull
from polyvox.bundles.validate import open_bundle
from polyvox.errors import BundleError
from polyvox.installation import load_settings
from polyvox.voices.vad import SileroVad


@pytest.fixture(scope="session")
def vad_models_dir() -> Path:
    """The folder of real models, with the speech detector in it; what is missing is pulled once."""
    settings = load_settings()
    try:
        open_bundle("silero-vad", settings.models_dir)
    except BundleError:
        pull(
            "silero-vad",
            models_dir=settings.models_dir,
            folder=None,
            hub_url=settings.hub_url,
            progress=SilentProgress(),
        )
    return settings.models_dir


@pytest.fixture(scope="session")
def detector(vad_models_dir: Path) -> SileroVad:
    return SileroVad(open_bundle("silero-vad", vad_models_dir))
