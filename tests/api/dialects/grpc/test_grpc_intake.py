"""Messages that are still arriving: how many, how long, and which one goes."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from helpers.fakes import tone_settings
from polyvox.api.dialects.grpc.intake import MessageIntake
from polyvox.errors import InvalidRequestError, OverloadedError, StalledError
from polyvox.service.admission.pending_bodies import PendingBodies
from polyvox.service.telemetry.metrics import Metrics

pytestmark = pytest.mark.anyio


def intake(**settings: object) -> MessageIntake:
    """One that takes four large messages at a time."""
    metrics = Metrics()
    return MessageIntake(tone_settings(max_pending_body_bytes=2**20, **settings), PendingBodies(2**20, metrics))


async def after(seconds: float, *messages: bytes) -> AsyncIterator[bytes]:
    await asyncio.sleep(seconds)
    for message in messages:
        yield message


async def test_a_burst_of_small_messages_is_taken_whole() -> None:
    receiving = intake()
    received = await asyncio.gather(*(receiving.first(after(0.01, b"%d" % n)) for n in range(200)))
    assert received == [b"%d" % n for n in range(200)]


@pytest.mark.long
async def test_the_message_that_has_waited_longest_makes_room() -> None:
    receiving = intake()
    slow = [asyncio.create_task(receiving.first(after(0.6, b"late"))) for _ in range(4)]
    await asyncio.sleep(0.3)
    newest = asyncio.create_task(receiving.first(after(0.4, b"newest")))
    assert await newest == b"newest"
    with pytest.raises(OverloadedError):
        await slow[0]
    assert await asyncio.gather(*slow[1:]) == [b"late"] * 3


async def test_a_message_that_never_comes_ends_the_call() -> None:
    receiving = intake(deadline_seconds=0.3)
    with pytest.raises(StalledError):
        await receiving.first(after(10.0))


async def test_a_call_without_a_message_is_told_so() -> None:
    with pytest.raises(InvalidRequestError):
        await intake().first(after(0.0))


@pytest.mark.long
async def test_only_the_first_of_many_messages_has_to_hurry() -> None:
    async def conversation() -> AsyncIterator[bytes]:
        yield b"config"
        await asyncio.sleep(0.5)
        yield b"text"

    receiving = intake(deadline_seconds=0.3)
    assert [message async for message in receiving.all(conversation())] == [b"config", b"text"]
