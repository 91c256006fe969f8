"""On a GPU a batch of hops is launched when the flow of the last one is done, whoever still waits for its samples."""

import asyncio
import threading
from contextlib import asynccontextmanager
from functools import partial
from queue import SimpleQueue

import numpy as np
import pytest

pytest.importorskip("torch")

from polyvox.engines.cosyvoice.decoder.hop_stage import LaunchingHopStage, launch_rows
from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState, Hop, Token2WavResult
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Stage

pytestmark = pytest.mark.anyio


class Launched:
    """Hops whose flow and whose samples are done when the test says so; the samples are the hop's tokens."""

    def __init__(self, hops):
        self.hops, self.flow_done, self.heard = hops, threading.Event(), threading.Event()

    def wait_for_flow(self):
        assert self.flow_done.wait(30)

    def results(self):
        assert self.heard.wait(30)
        return [Token2WavResult(np.array(hop.tokens, np.float32), 1, hop.state) for hop in self.hops]


class Device:
    """Notes what is launched on it."""

    def __init__(self):
        self.launched, self._fresh = [], SimpleQueue()

    def __call__(self, hops):
        self.launched.append(Launched(hops))
        self._fresh.put(self.launched[-1])
        return self.launched[-1]

    async def next(self):
        """The next batch to be launched."""
        return await asyncio.to_thread(self._fresh.get, timeout=30)


@asynccontextmanager
async def decoding():
    device, executor = Device(), DeviceExecutor("device", 1)
    stage = LaunchingHopStage(Stage("hops", partial(launch_rows, device), executor=executor, max_batch=2), 2)
    try:
        yield device, stage
    finally:
        for each in device.launched:
            each.flow_done.set()
            each.heard.set()
        await stage.close()
        await asyncio.to_thread(executor.close)


def asked(stage, *numbers):
    return [asyncio.create_task(stage(Hop((number,), DecoderState(number), final=False))) for number in numbers]


async def test_the_next_batch_is_launched_before_the_last_is_heard_and_not_before_its_flow_is_done():
    async with decoding() as (device, stage):
        first = asked(stage, 1, 2)
        one = await device.next()
        second = asked(stage, 3, 4)
        await asyncio.sleep(0.05)
        assert len(device.launched) == 1
        one.flow_done.set()
        two = await device.next()
        assert not any(task.done() for task in (*first, *second))
        two.flow_done.set()
        two.heard.set()
        one.heard.set()
        results = await asyncio.gather(*first, *second)
        assert [(result.pcm.tolist(), result.state.seed) for result in results] == [
            ([n], n) for n in (1.0, 2.0, 3.0, 4.0)
        ]


async def test_a_caller_that_is_gone_leaves_the_others_of_its_batch_their_samples():
    async with decoding() as (device, stage):
        gone, stays = asked(stage, 1, 2)
        one = await device.next()
        gone.cancel()
        one.flow_done.set()
        one.heard.set()
        assert (await stays).pcm.tolist() == [2.0]
        assert gone.cancelled()


async def test_samples_that_never_come_end_the_hops_of_their_batch_alone():
    async with decoding() as (device, stage):
        lost = asked(stage, 1, 2)
        one = await device.next()
        one.results = lambda: 1 / 0
        one.flow_done.set()
        with pytest.raises(ZeroDivisionError):
            await lost[0]
        with pytest.raises(ZeroDivisionError):
            await lost[1]
        well = asked(stage, 3)
        two = await device.next()
        two.flow_done.set()
        two.heard.set()
        assert (await well[0]).pcm.tolist() == [3.0]
