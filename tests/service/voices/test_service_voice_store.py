"""The voice store on the event loop: a call that finds it out of order is counted, whoever made it."""

import pytest

from polyvox.errors import ConflictError, UnavailableError
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.voices.voice_store import AsyncVoiceStore
from polyvox.voices.storage.contract import VoiceStore

pytestmark = pytest.mark.anyio


class BrokenLocation:
    """A database that cannot be reached."""

    def exists(self) -> bool:
        return True

    def open(self) -> VoiceStore:
        raise UnavailableError("The database does not answer.")

    def signature(self) -> object:
        return None


async def test_every_call_that_finds_the_store_out_of_order_is_counted() -> None:
    metrics = Metrics()
    store = AsyncVoiceStore(BrokenLocation(), metrics.voice_store_failed)

    def failures() -> float | None:
        return metrics.registry.get_sample_value("polyvox_voice_store_failures_total")

    assert failures() == 0
    with pytest.raises(UnavailableError):
        await store.find("anna", "")
    assert failures() == 1
    await store.check()
    assert failures() == 2
    assert not store.state.available
    await store.close()


async def test_a_callers_mistake_is_no_failure_of_the_store() -> None:
    metrics = Metrics()
    store = AsyncVoiceStore(BrokenLocation(), metrics.voice_store_failed)

    def taken() -> None:
        raise ConflictError("The name is taken.")

    with pytest.raises(ConflictError):
        await store.run(taken)
    assert metrics.registry.get_sample_value("polyvox_voice_store_failures_total") == 0
    await store.close()
