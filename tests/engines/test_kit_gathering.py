"""Items that wait a moment for others on their way, so as to share a batch."""

import asyncio

import pytest

from polyvox.engines.kit.gathering import Gathering

pytestmark = pytest.mark.anyio
LONG = 60.0


async def test_nothing_on_its_way_is_not_waited_for():
    await asyncio.wait_for(Gathering().wait(LONG), timeout=1)


async def test_what_is_on_its_way_is_waited_for_until_the_last_has_come():
    gathering = Gathering()
    with gathering.arriving():
        waiting = asyncio.create_task(gathering.wait(LONG))
        with gathering.arriving():
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not waiting.done()
    await asyncio.wait_for(waiting, timeout=1)


async def test_what_never_comes_is_waited_for_no_longer_than_asked():
    gathering = Gathering()
    with gathering.arriving():
        await asyncio.wait_for(gathering.wait(0.01), timeout=1)


async def test_what_fails_on_its_way_is_no_longer_waited_for():
    gathering = Gathering()
    with pytest.raises(RuntimeError), gathering.arriving():
        raise RuntimeError
    await asyncio.wait_for(gathering.wait(LONG), timeout=1)
