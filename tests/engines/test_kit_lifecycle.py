"""An engine between its start and its close."""

import pytest

from polyvox.engines.kit.lifecycle import Lifecycle
from polyvox.errors import EngineError
from polyvox.runtime.lm_scheduler import LmReport
from polyvox.runtime.stage import BatchReport

pytestmark = pytest.mark.anyio


class Parts:
    closed = 0

    async def close(self) -> None:
        self.closed += 1


class Kettle(Lifecycle[Parts]):
    def begin(self) -> Parts:
        self._running = Parts()
        return self._running

    def parts(self) -> Parts:
        return self._started()

    def step(self, report: LmReport) -> None:
        self._report(report)


async def test_an_engine_has_its_parts_until_it_is_closed_and_closes_them_once() -> None:
    engine = Kettle("kettle")
    with pytest.raises(EngineError, match="'kettle' is not running"):
        engine.parts()
    parts = engine.begin()
    assert engine.parts() is parts
    await engine.close()
    await engine.close()
    assert parts.closed == 1
    with pytest.raises(EngineError):
        engine.parts()


def test_a_step_of_a_language_model_is_a_batch_of_positions_and_one_of_what_it_generated() -> None:
    engine, seen = Kettle("kettle"), list[BatchReport]()
    report = LmReport(4, 3, 0, prompt_tokens=7, generated_tokens=3, prefill_seconds=0.5, decode_seconds=0.25)
    engine.step(report)
    engine.observe(seen.append)
    engine.step(report)
    assert [(each.stage, each.size, each.run_seconds) for each in seen] == [
        ("kettle prefill", 7, 0.5),
        ("kettle decode", 3, 0.25),
    ]
