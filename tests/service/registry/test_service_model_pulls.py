"""Models that the server fetches for a caller: one at a time, with progress, and stoppable."""

import asyncio
import threading

import pytest

from helpers.serving import wait_for
from polyvox.bundles.progress import Progress
from polyvox.config import Settings
from polyvox.errors import BundleError, ConflictError, NotFoundError, UnknownModelError
from polyvox.service.registry.model_pulls import ModelPulls, PullState

pytestmark = pytest.mark.anyio
MODEL = "moonshine-base"


class Hub:
    """Fetches in steps of a byte, each of which the test lets go."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.steps = threading.Semaphore(0)
        self.fetched: list[str] = []

    def __call__(self, model: str, settings: Settings, progress: Progress) -> None:
        with progress.task(f"Fetching {model}", 3) as advance:
            for _ in range(3):
                assert self.steps.acquire(timeout=10)
                advance(1)
            if self.error is not None:
                raise self.error
        self.fetched.append(model)

    def go(self, steps: int = 3) -> None:
        self.steps.release(steps)


async def ended(pulls: ModelPulls) -> PullState:
    await asyncio.to_thread(wait_for, lambda: pulls.state is not None and pulls.state.status != "running")
    assert pulls.state is not None
    return pulls.state


async def bytes_done(pulls: ModelPulls, count: int) -> PullState:
    await asyncio.to_thread(wait_for, lambda: pulls.state is not None and pulls.state.bytes_done == count)
    assert pulls.state is not None
    return pulls.state


async def test_a_model_is_fetched_and_says_how_far_it_is() -> None:
    hub = Hub()
    pulls = ModelPulls(Settings(), hub)
    assert pulls.state is None
    assert pulls.start(MODEL).status == "running"
    hub.go(2)
    state = await bytes_done(pulls, 2)
    assert (state.step, state.bytes_total, state.status) == (f"Fetching {MODEL}", 3, "running")
    with pytest.raises(ConflictError, match="fetched already"):
        pulls.start("campplus")
    hub.go(1)
    assert (await ended(pulls)).public() == {
        "model": MODEL,
        "status": "done",
        "step": f"Fetching {MODEL}",
        "bytes_done": 3,
        "bytes_total": 3,
        "error": None,
    }
    hub.go()
    pulls.start("campplus")
    await ended(pulls)
    assert hub.fetched == [MODEL, "campplus"]


async def test_what_fails_says_why_and_a_defect_does_not() -> None:
    for error, message in (
        (BundleError("The hub is not there; connect this machine."), "connect this machine"),
        (RuntimeError("a secret"), "the server's log"),
    ):
        hub = Hub(error)
        pulls = ModelPulls(Settings(), hub)
        pulls.start(MODEL)
        hub.go()
        state = await ended(pulls)
        assert state.status == "failed"
        assert message in str(state.error)
        assert "secret" not in str(state.error)


@pytest.mark.parametrize("way", ["cancel", "close"])
async def test_a_pull_stops_at_its_next_byte(way: str) -> None:
    hub = Hub()
    pulls = ModelPulls(Settings(), hub)
    pulls.start(MODEL)
    hub.go(1)
    await bytes_done(pulls, 1)
    stopping = asyncio.create_task(pulls.cancel() if way == "cancel" else pulls.close())
    await asyncio.sleep(0)
    hub.go(2)
    await asyncio.wait_for(stopping, 10)
    assert (await ended(pulls)).status == "cancelled"
    assert hub.fetched == []


async def test_nothing_but_known_models_is_fetched_and_nothing_is_cancelled_that_is_not() -> None:
    pulls = ModelPulls(Settings(), Hub())
    for name in ("../etc", "nothing", ""):
        with pytest.raises(UnknownModelError):
            pulls.start(name)
    with pytest.raises(NotFoundError):
        await pulls.cancel()
    await pulls.close()
