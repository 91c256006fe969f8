"""Models that are loaded when a request names them, and unloaded when nobody does."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from helpers.fakes import ToneEngine, missing_bundle, tone_settings
from helpers.tables import each_row
from polyvox.errors import ConflictError, OverloadedError, UnavailableError
from polyvox.service.registry.registry import Registry

pytestmark = pytest.mark.anyio


class SlowEngine(ToneEngine):
    """A tone engine whose start waits for `may_start`."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.starting = False
        self.may_start = asyncio.Event()

    async def start(self) -> None:
        self.starting = True
        await self.may_start.wait()
        await super().start()


class Models:
    """A registry with the resident model `tone` and others on demand; `made` lists every engine that was made."""

    def __init__(
        self,
        *names: str,
        make: Callable[[str], ToneEngine] = ToneEngine,
        tone: ToneEngine | None = None,
        **settings: Any,
    ) -> None:
        self.now = 1_000.0
        self.made: list[ToneEngine] = []
        self.missing: dict[str, str] = {}
        self.events: list[tuple[str, str]] = []
        self._make = make
        factories = {name: lambda _, name=name: self._made(name) for name in names}
        self.registry = Registry(
            tone_settings(**settings),
            {"tone": lambda _: tone or ToneEngine(), **factories},
            absence=lambda name: self.missing.get(name, ""),
            clock=lambda: self.now,
        )

    def _made(self, name: str) -> ToneEngine:
        self.made.append(self._make(name))
        return self.made[-1]

    async def __aenter__(self) -> "Models":
        await self.registry.start(events=lambda model, event: self.events.append((model, event)))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.registry.close()

    def loaded(self) -> list[str]:
        return [info.id for info in self.registry.models() if info.loaded]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - conditions are anything
            await asyncio.sleep(0.001)


async def test_concurrent_first_requests_load_a_model_once() -> None:
    async with Models("other", make=SlowEngine) as models:
        waiting = [asyncio.create_task(models.registry.hold("other")) for _ in range(5)]
        await until(lambda: models.made)
        progress = models.registry.loading()["other"]
        models.now += 3
        assert (progress.waiting, models.registry.loading()["other"].seconds) == (5, 3)
        models.made[0].may_start.set()
        holds = await asyncio.gather(*waiting)
        assert len(models.made) == 1
        assert all(hold.engine is models.made[0] for hold in holds)
        assert models.loaded() == ["tone", "other"]
        assert models.registry.loading() == {}
    assert models.made[0].is_closed
    assert models.events == [("tone", "loaded"), ("other", "loaded")]


async def test_a_load_that_takes_longer_goes_on_and_the_next_request_finds_it() -> None:
    async with Models("other", make=SlowEngine, model_load_seconds=0.01) as models:
        with pytest.raises(UnavailableError, match="still loading") as caught:
            await models.registry.hold("other")
        assert (caught.value.retry, caught.value.retry_after) == (True, 5)
        models.made[0].may_start.set()
        await until(lambda: "other" in models.loaded())
        with await models.registry.hold("other") as held:
            assert held.engine is models.made[0]
        assert len(models.made) == 1


@pytest.mark.long
async def test_a_model_whose_requests_have_left_before_it_was_loaded_is_unloaded_too() -> None:
    async with Models("other", make=SlowEngine, model_load_seconds=0.01, model_idle_seconds=0.01) as models:
        with pytest.raises(UnavailableError, match="still loading"):
            await models.registry.hold("other")
        models.made[0].may_start.set()
        await until(lambda: models.made[0].is_closed)
        assert models.made[0].started


@pytest.mark.long
async def test_a_request_that_leaves_does_not_end_the_load_of_the_others() -> None:
    async with Models("other", make=SlowEngine) as models:
        leaver, stayer = (asyncio.create_task(models.registry.hold("other")) for _ in range(2))
        await until(lambda: models.made)
        leaver.cancel()
        await asyncio.wait({leaver})
        models.made[0].may_start.set()
        (await stayer).release()
        assert (await models.registry.unload("other")).models == ["other"]  # nothing counts as in use


async def test_no_more_requests_wait_for_a_load_than_may_speak_or_queue() -> None:
    async with Models("other", make=SlowEngine, max_sessions=1, max_queue=1) as models:
        waiting = [asyncio.create_task(models.registry.hold("other")) for _ in range(2)]
        await until(lambda: models.made)
        with pytest.raises(OverloadedError, match="wait for the model 'other'"):
            await models.registry.hold("other")
        models.made[0].may_start.set()
        await asyncio.gather(*waiting)


@pytest.mark.long
async def test_an_idle_model_is_unloaded_and_loaded_again_and_a_resident_one_stays() -> None:
    async with Models("other", model_idle_seconds=0.01) as models:
        (await models.registry.hold(None)).release()
        (await models.registry.hold("other")).release()
        await until(lambda: models.made[0].is_closed)
        assert models.loaded() == ["tone"]
        assert models.registry.model("other").available
        assert models.registry.model("other").capabilities is not None
        with await models.registry.hold("other") as held:
            assert held.engine is models.made[1]


@pytest.mark.long
async def test_a_model_in_use_is_not_unloaded() -> None:
    async with Models("other", "third", model_idle_seconds=0.01, max_loaded_models=1) as models:
        with await models.registry.hold("other") as held:
            await asyncio.sleep(0.05)
            with pytest.raises(ConflictError, match="in use"):
                await models.registry.unload("other")
            assert (await models.registry.unload(None)).busy == ["other"]
            with pytest.raises(UnavailableError, match="no room while other speak") as caught:
                await models.registry.hold("third")
            assert caught.value.retry is True
            assert not models.made[0].is_closed
        held.release()
        await until(lambda: models.made[0].is_closed)


async def test_without_an_idle_time_a_model_stays() -> None:
    async with Models("other", model_idle_seconds=0) as models:
        (await models.registry.hold("other")).release()
        await asyncio.sleep(0.03)
        assert models.loaded() == ["tone", "other"]


@pytest.mark.long
async def test_the_least_recently_used_makes_room() -> None:
    async with Models("a", "b", "c", max_loaded_models=2) as models:
        for name in ("a", "b", "a"):
            models.now += 1
            (await models.registry.hold(name)).release()
        (await models.registry.hold("c")).release()
        assert models.loaded() == ["tone", "a", "c"]


FAULTS = [
    (missing_bundle(), "polyvox pull", True),
    (MemoryError(), "not enough memory", True),
    (RuntimeError("CUDA out of memory. Tried"), "not enough memory", True),
    (ValueError("secret"), "failed to start", True),
    (ConnectionResetError("secret"), "failed to start", False),
    (UnavailableError("The other server restarts.", retry=True), "restarts", False),
]


@pytest.mark.long
@each_row(("error", "message", "permanent"), FAULTS)
async def test_a_fault_is_remembered_for_a_while(error: Exception, message: str, permanent: bool) -> None:
    async with Models("other", make=lambda name: ToneEngine(name, start_error=error)) as models:
        for _ in range(3):
            with pytest.raises(UnavailableError, match=message) as caught:
                await models.registry.hold("other")
            assert caught.value.retry is not permanent
            assert "secret" not in caught.value.message
        assert len(models.made) == 1
        assert models.made[0].is_closed
        assert not models.registry.model("other").available
        models.now += 61 if permanent else 3
        with pytest.raises(UnavailableError, match=message):
            await models.registry.hold("other")
        assert len(models.made) == 2


@pytest.mark.long
async def test_a_mended_model_is_reloaded_at_once() -> None:
    engines = [ToneEngine("other", start_error=missing_bundle()), ToneEngine("other"), ToneEngine("other")]
    async with Models("other", make=lambda _: engines[len(models.made)]) as models:
        with pytest.raises(UnavailableError):
            await models.registry.hold("other")
        assert (await models.registry.reload("other")).loaded
        assert (await models.registry.reload("other")).loaded
        assert [engine.is_closed for engine in engines] == [True, True, False]


async def test_a_model_that_is_not_installed_keeps_its_remedy_and_joins_once_it_is() -> None:
    async with Models("other") as models:
        models.missing["other"] = "The model 'other' is not installed; run: polyvox pull other."
        with pytest.raises(UnavailableError, match="polyvox pull other") as caught:
            await models.registry.hold("other")
        assert caught.value.retry is False
        assert [info.id for info in models.registry.absent()] == ["other"]
        assert [info.id for info in models.registry.models()] == ["tone"]
        del models.missing["other"]
        (await models.registry.hold("other")).release()
        assert models.loaded() == ["tone", "other"]


async def test_with_no_room_for_further_models_the_setting_is_named_as_before() -> None:
    async with Models("other", max_loaded_models=0) as models:
        with pytest.raises(UnavailableError, match="add it to the setting 'models'"):
            await models.registry.hold("other")


@pytest.mark.long
async def test_the_default_model_stays_unless_it_is_named() -> None:
    tone = ToneEngine()
    async with Models("other", tone=tone) as models:
        (await models.registry.hold("other")).release()
        assert (await models.registry.unload(None)).models == ["other"]
        assert not tone.is_closed
        assert (await models.registry.unload("tone")).models == ["tone"]
        assert tone.is_closed


async def test_closing_ends_a_load_under_way() -> None:
    async with Models("other", make=SlowEngine) as models:
        waiting = asyncio.create_task(models.registry.hold("other"))
        await until(lambda: models.made and models.made[0].starting)
    with pytest.raises(UnavailableError, match="shutting down"):
        await waiting
    assert models.made[0].is_closed
    with pytest.raises(UnavailableError, match="shutting down"):
        await models.registry.hold("other")
