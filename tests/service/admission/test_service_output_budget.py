"""The budget for answers that are sent as a whole."""

import asyncio

import pytest

from polyvox.errors import InvalidRequestError, OverloadedError
from polyvox.service.admission.output_budget import OutputBudget

pytestmark = pytest.mark.anyio


async def test_the_request_that_began_last_is_refused_and_the_first_goes_on() -> None:
    budget = OutputBudget(100)
    first, last = budget.reservation(10.0), budget.reservation(10.0)
    await first.grow_to(60)
    await last.grow_to(40)
    waiting = asyncio.create_task(first.grow_to(90))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    with pytest.raises(OverloadedError) as error:
        await last.grow_to(41)
    assert error.value.retry_after >= 1
    last.release()
    await waiting
    assert budget.used == 90
    first.release()
    first.release()
    assert budget.used == 0


async def test_nobody_waits_beyond_patience() -> None:
    budget = OutputBudget(100)
    first, last = budget.reservation(0.02), budget.reservation(0.02)
    await first.grow_to(60)
    await last.grow_to(40)
    with pytest.raises(OverloadedError):
        await first.grow_to(90)
    assert budget.used == 100


async def test_what_never_fits_is_told_to_stream() -> None:
    budget = OutputBudget(100)
    with pytest.raises(InvalidRequestError, match="stream"):
        await budget.reservation(1.0).grow_to(101)
    assert budget.used == 0
