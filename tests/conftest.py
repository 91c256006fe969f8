import gc
import importlib.metadata
import logging
import os
import sys
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

# What a fixture needs is imported by the fixture: every run of one test file reads this one.
if TYPE_CHECKING:
    from polyvox.bundles.validate import Bundle
    from polyvox.voices.recognition.transcribe import Moonshine

# The same examples judge every change, fewer of them in `make unit`; `make nightly` looks for new ones (`search`).
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=10)
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("search", deadline=None, max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# Kernels for GPUs are interpreted, wherever the tests run. Triton reads this once, when it is imported.
os.environ["TRITON_INTERPRET"] = "1"

# A worker has one core for itself and the programs that it starts, and threads that wait for each other leave it to
# others. PyTorch and OpenBLAS read this when they are imported, which the conftest of a folder may do.
if any(argument.startswith("--workers") for argument in sys.argv):
    os.environ |= {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, metavar="N", help="run N files of tests at a time")
    parser.addoption("--attack", action="store_true", help="run the trials at length, as `make attack` does")
    parser.addoption("--attack-report", type=Path, metavar="FILE", help="write what each trial cost as JSON")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--workers") > 1:
        from helpers.forked_workers import ForkedWorkers

        config.pluginmanager.register(ForkedWorkers(config, config.getoption("--workers")))
    if config.getoption("--attack") or config.getoption("--attack-report"):
        from helpers.attack_report import AttackReport

        config.pluginmanager.register(AttackReport(config.getoption("--attack-report")))
    if config.getoption("--attack"):
        from helpers.trials import STRICT

        os.environ[STRICT] = "1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        module = getattr(item, "module", None)
        if hasattr(module, "run_client") or hasattr(module, "run_javascript"):
            item.add_marker(pytest.mark.clients)
        if hasattr(module, "watched"):  # all of a module's tests share the servers that it watches
            item.add_marker(pytest.mark.alone)
    # The longest files first: no worker is left with one of them when the others have nothing more to do.
    slow, long = ({item.path for item in items if item.get_closest_marker(mark)} for mark in ("slow", "long"))
    items.sort(key=lambda item: (item.path not in slow, item.path not in long))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let collections of garbage pass over all that is imported and collected: each would walk through it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_collection_finish() -> None:
    """Let PyTorch's 40 loggers pass on what they hear: each test would give those that do not pytest's handlers."""
    for name, logger in logging.root.manager.loggerDict.items():
        if name.partition(".")[0] == "torch" and isinstance(logger, logging.Logger):
            logger.propagate = True


@pytest.fixture(scope="session")
def scale(request: pytest.FixtureRequest) -> int:
    """How many times as long as in the everyday tests a trial lasts."""
    return 20 if request.config.getoption("--attack") else 1


@pytest.fixture
def loose_manifests() -> Iterator[None]:
    """Shipped models may be installed from files that the test makes."""
    from helpers.loose_manifests import without_hashes

    with without_hashes():
        yield


@pytest.fixture(autouse=True)
def fresh_logging() -> None:
    """No test inherits the log level that another one set."""
    if "structlog" in sys.modules:
        sys.modules["structlog"].reset_defaults()
    logging.getLogger().setLevel(logging.WARNING)


@pytest.fixture(scope="session", autouse=True)
def plain_tracebacks() -> None:
    """Logged tracebacks come without colours and variables, which would take 0.1 s of CPU time for each."""
    if (structlog := sys.modules.get("structlog")) is not None:
        structlog.get_config()["processors"][-1].exception_formatter = structlog.dev.plain_traceback


@pytest.fixture(scope="session", autouse=True)
def small_reserves() -> Iterator[None]:
    """Stores of voices hold back 64 KiB of the disk, not 4 MiB of random bytes in each of some 200 folders."""
    with pytest.MonkeyPatch.context() as patch:
        if (store := sys.modules.get("polyvox.voices.storage.store")) is not None:
            patch.setitem(store.FileVoiceStore.__init__.__kwdefaults__, "reserve_bytes", 65_536)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_distributed_tensors() -> Iterator[None]:
    """No test compares such: to tell them from others, each worker would import them for 0.7 s of CPU time."""
    with pytest.MonkeyPatch.context() as patch:
        if (comparison := sys.modules.get("torch.testing._comparison")) is not None:
            patch.setattr(comparison, "_HAS_DTENSOR", False, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def packages_read_once() -> Iterator[None]:
    """Nothing is installed while tests run: the packages' entry points are read once, not for each server again."""
    reader = sys.modules.get(
        "polyvox.engines.catalog", importlib.metadata
    )  # where it is not loaded yet, what it imports
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "entry_points", cache(reader.entry_points))
        yield


@pytest.fixture(scope="session", autouse=True)
def networks_loaded_once() -> Iterator[None]:
    """Real recognisers, Kokoro and Wren stay loaded when a service closes: the next one would take 2 s for each."""
    with pytest.MonkeyPatch.context() as patch:
        if (transcriber := sys.modules.get("polyvox.service.voices.transcriber")) is not None:
            from helpers.loaded_once import RECOGNISERS, kept_kokoro, kept_wren
            from polyvox.engines.kokoro import loading
            from polyvox.engines.kokoro.wren import loading as wren_loading

            patch.setattr(transcriber, "_loaded", RECOGNISERS)
            patch.setattr(loading, "KokoroModel", kept_kokoro)
            patch.setattr(wren_loading, "load_wren", kept_wren)
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Clients of HTTP share the world's certificates: each would read them anew, for 50 ms of CPU time."""
    import ssl

    import certifi

    create = ssl.create_default_context
    shared = cache(create)
    world = ({"cafile": certifi.where()}, {"cafile": os.environ.get("SSL_CERT_FILE")})

    def created(*purpose: ssl.Purpose, **options: Any) -> ssl.SSLContext:
        return shared(**options) if not purpose and options in world else create(*purpose, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", created)
        yield


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def installed() -> "Callable[[str], Bundle]":
    """Opens a real model by its name, in the folder that the settings name; one that is missing is pulled first."""
    from helpers.silent_progress import SilentProgress
    from polyvox.bundles.pull import pull
    from polyvox.bundles.validate import open_bundle
    from polyvox.errors import BundleError
    from polyvox.installation import load_settings

    settings = load_settings()

    def opened(name: str) -> "Bundle":
        try:
            return open_bundle(name, settings.models_dir)
        except BundleError:
            return pull(
                name,
                models_dir=settings.models_dir,
                folder=None,
                hub_url=settings.hub_url,
                progress=SilentProgress(),
            )

    return opened


@pytest.fixture(scope="session")
def models_dir(installed: "Callable[[str], Bundle]") -> Path:
    """The folder of real models, with those in it that nearly every test of the real thing needs."""
    for name in ("kokoro", "moonshine-base"):
        folder = installed(name).folder.parent
    return folder


@pytest.fixture(scope="session")
def moonshine_alone(installed: "Callable[[str], Bundle]", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models for services that write down recordings: Whisper would take ten times as long for each."""
    from helpers.loaded_once import RECOGNISERS, kept_moonshine

    folder = tmp_path_factory.mktemp("moonshine")
    bundle = installed("moonshine-base").folder
    (folder / bundle.name).symlink_to(bundle.resolve())
    RECOGNISERS[bundle.name, folder] = kept_moonshine(bundle.parent)
    return folder


@pytest.fixture(scope="session")
def moonshine(models_dir: Path) -> "Moonshine":
    """The ear of the tests."""
    from helpers.loaded_once import kept_moonshine

    return kept_moonshine(models_dir)
