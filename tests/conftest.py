from pathlib import Path

import pytest
import structlog

from polyvox.bundles.progress import SilentProgress
from polyvox.bundles.pull import pull
from polyvox.bundles.validate import open_bundle
from polyvox.config import load
from polyvox.errors import BundleError
from polyvox.voices.transcribe import Moonshine


@pytest.fixture(autouse=True)
def fresh_logging() -> None:
    """No test inherits the log level that another one set."""
    structlog.reset_defaults()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The folder of real models, where the settings say it is; what is missing is pulled once."""
    settings = load()
    for name in ("kokoro", "moonshine-base"):
        try:
            open_bundle(name, settings.models_dir)
        except BundleError:
            pull(
                name,
                models_dir=settings.models_dir,
                folder=None,
                hub_url=settings.hub_url,
                progress=SilentProgress(),
            )
    return settings.models_dir


@pytest.fixture(scope="session")
def moonshine(models_dir: Path) -> Moonshine:
    """The ear of the tests."""
    return Moonshine(open_bundle("moonshine-base", models_dir))
