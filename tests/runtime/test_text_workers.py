"""Processes that read texts: the parts that this process would read, each fault to the text that it belongs to."""

import asyncio
import io
import os
import pickle
import signal
import weakref
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np
import pytest

from helpers.tables import each_row
from polyvox.errors import EngineError, MarkupError, UnavailableError
from polyvox.forked_child import ForkServer
from polyvox.runtime.text_workers import answering
from polyvox.runtime.text_workers.answering import SIZE, Finish, Finisher, Forget, Part, Read, answer_all, packed
from polyvox.runtime.text_workers.workers import TextWorkers, taken_off, worker_count
from polyvox.text.spoken import SpokenWord
from polyvox.types import Span

pytestmark = pytest.mark.anyio

PROGRAM = """
import os, signal, sys, time
from functools import partial
from polyvox import fork_server
from polyvox.errors import MarkupError
from polyvox.forked_child import ForkServer
from polyvox.runtime.text_workers.answering import Finisher, answer_parent

def read(known, text):
    for word in text.split():
        if word == "wrong":
            raise MarkupError("No such mark.", field="input", at=3, mark="[x]")
        if word == "bug":
            raise KeyError(word)
        if word == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "loud":
            print("a line", flush=True)
            os.write(1, b"and more of it")
        if word == "slow":
            time.sleep(0.3)
        yield f"{word}@{os.getpid()}" if word == "who" else known.get(word, word)

def finish(word, more):
    return f"{word}{len(word) / more:g}"

finisher = Finisher(str, finish)
fork_server.serve(partial(answer_parent, lambda known: partial(read, known), finisher=lambda known: finisher))
"""


@dataclass
class Timing:
    seconds: float
    ends: float | None = field(init=False, default=None)


@asynccontextmanager
async def started(count: int, warm_up: tuple[str, ...] = ()):
    with patch(
        "polyvox.runtime.text_workers.workers.ForkServer", lambda *command: ForkServer(*command[:2], "-c", PROGRAM)
    ):
        workers = TextWorkers[str, str](count, "a program", given={"best": "BEST"})
    await workers.start(warm_up)
    try:
        yield workers
    finally:
        await workers.close()


async def read_whole(workers: TextWorkers[str, str], text: str) -> list[str]:
    reading, parts = workers.begin(text), []
    while (part := await reading.next()) is not None:
        parts.append(part)
    return parts


async def test_texts_that_are_read_side_by_side_each_give_their_own_parts() -> None:
    texts = [f"text number {index} of many" for index in range(20)]
    async with started(2) as workers:
        found = await asyncio.gather(*(read_whole(workers, text) for text in texts))
    assert found == [text.split() for text in texts]


async def test_a_text_goes_to_the_process_with_the_least_to_do() -> None:
    async with started(2) as workers:
        busy = asyncio.create_task(read_whole(workers, "slow"))
        await asyncio.sleep(0)
        others = [(await read_whole(workers, "who"))[0] for _ in range(3)]
        assert not busy.done()
        assert len(set(others)) == 1
        assert await busy == ["slow"]


async def test_texts_that_begin_in_one_moment_go_to_all_processes() -> None:
    async with started(3) as workers:
        texts = [workers.begin("who") for _ in range(6)]
        readers = [await text.next() for text in texts]
        assert sorted(Counter(readers).values()) == [2, 2, 2]
        texts[0].close()
        texts[0].close()
        another = workers.begin("who")
        assert await another.next() == readers[0], "it has the fewest"
        for text in (*texts, another):
            text.close()


async def test_all_read_with_what_they_were_given() -> None:
    async with started(2) as workers:
        assert await asyncio.gather(*(read_whole(workers, "the best") for _ in range(2))) == [["the", "BEST"]] * 2


async def test_an_end_is_an_end_however_often_it_is_asked() -> None:
    async with started(1) as workers:
        reading = workers.begin("one")
        assert [await reading.next() for _ in range(3)] == ["one", None, None]


async def test_a_callers_mistake_keeps_its_class_and_its_place() -> None:
    async with started(1) as workers:
        reading = workers.begin("well wrong")
        assert await reading.next() == "well"
        with pytest.raises(MarkupError, match=r"No such mark\.") as raised:
            await reading.next()
        assert (raised.value.field, raised.value.at, raised.value.mark) == ("input", 3, "[x]")
        assert await reading.next() is None


async def test_a_fault_in_one_text_is_an_error_of_that_text_alone() -> None:
    async with started(1) as workers:
        with pytest.raises(EngineError, match="KeyError"):
            await read_whole(workers, "bug")
        assert await read_whole(workers, "good") == ["good"]


async def test_parts_are_finished_by_the_process_that_read_them_in_any_order() -> None:
    async with started(2) as workers:
        texts = [workers.begin("a few words") for _ in range(4)]
        for text in texts:
            while await text.next() is not None:
                pass
        found = [await text.finish(number, 2) for text in texts for number in (2, 0)]
        assert found == ["words2.5", "a0.5"] * 4
        for text in texts:
            text.close()
        with pytest.raises(UnavailableError, match="forgotten"):
            await texts[0].finish(1, 2)


async def test_a_part_that_cannot_be_finished_leaves_the_text_its_others() -> None:
    async with started(1) as workers:
        text = workers.begin("a few words")
        assert [await text.next() for _ in range(2)] == ["a", "few"]
        with pytest.raises(EngineError, match=r"could not be finished \(ZeroDivisionError\)"):
            await text.finish(0, 0)
        assert await text.finish(1, 3) == "few1"
        assert await text.next() == "words"


async def test_what_a_worker_prints_is_no_answer() -> None:
    async with started(1) as workers:
        assert await asyncio.wait_for(read_whole(workers, "loud and clear"), 10) == ["loud", "and", "clear"]


async def test_a_process_that_ends_fails_its_texts_and_is_replaced() -> None:
    async with started(2) as workers:
        with pytest.raises(UnavailableError, match="send the request again"):
            await read_whole(workers, "crash")
        assert await read_whole(workers, "at once") == ["at", "once"]  # by the other one
        processes = set()
        async with asyncio.timeout(10):
            while len(processes) < 2:
                both = await asyncio.gather(*(read_whole(workers, "slow who") for _ in range(2)))
                processes = {parts[1] for parts in both}


async def test_the_only_process_is_there_again_after_its_end() -> None:
    async with started(1) as workers:
        with pytest.raises(UnavailableError):
            await read_whole(workers, "crash")
        async with asyncio.timeout(10):
            while True:
                try:
                    assert await read_whole(workers, "again") == ["again"]
                    break
                except UnavailableError:
                    await asyncio.sleep(0.02)


async def test_the_process_that_forks_is_started_again_as_well() -> None:
    async with started(1) as workers:
        os.kill(workers._server.pid, signal.SIGKILL)  # its child goes on, until it is killed too
        with pytest.raises(UnavailableError):
            await read_whole(workers, "crash")
        async with asyncio.timeout(10):
            while True:
                try:
                    assert await read_whole(workers, "again") == ["again"]
                    break
                except UnavailableError:
                    await asyncio.sleep(0.02)


async def test_a_cancelled_reader_leaves_the_others_their_answers() -> None:
    async with started(1) as workers:
        left = asyncio.create_task(read_whole(workers, "slow"))
        await asyncio.sleep(0.05)
        left.cancel()
        assert await read_whole(workers, "mine alone") == ["mine", "alone"]


async def test_what_is_read_at_the_start_is_not_among_the_answers() -> None:
    async with started(2, ("first words", "more")) as workers:
        assert await read_whole(workers, "mine") == ["mine"]


async def test_a_text_that_breaks_the_start_is_told_to_whoever_starts() -> None:
    with pytest.raises(UnavailableError, match="could not be started"):
        async with started(1, ("crash",)):
            pass


async def test_closing_ends_all_processes() -> None:
    async with started(2) as workers:
        found = await asyncio.gather(*(read_whole(workers, "slow who") for _ in range(2)))
    for _, who in found:
        with pytest.raises(ProcessLookupError):
            os.kill(int(who.partition("@")[2]), 0)


async def test_a_text_that_is_forgotten_takes_no_memory() -> None:
    ended = []

    def read(job: str):
        try:
            yield from job
        finally:
            ended.append(job)

    told: list[Read | Forget] = [Read(0, "ab"), Read(1, "c"), Forget(0), Read(1), Read(2, "d")]
    sink = io.BytesIO()
    answer_all(read, told, sink)
    assert ended[:2] == ["ab", "c"]
    assert taken_off(bytearray(sink.getvalue())) == [Part("a"), Part("c"), Part(None), Part("d")]


def test_a_message_is_read_as_what_was_sent_and_dataclasses_are_called() -> None:
    word = SpokenWord("five", "fIv", Span(3, 5), space=True)
    sent = Part((word, Timing(1.5), np.arange(3)), MarkupError("No.", field="input", at=3, mark="[x]"))
    message = packed(sent)
    assert SIZE.unpack(message[: SIZE.size]) == (len(message) - SIZE.size,)
    found = pickle.loads(message[SIZE.size :])
    assert (found.value[0], found.value[1].seconds) == (word, 1.5)
    assert found.value[1].ends is None, "what is no argument is kept as it is"
    assert found.value[2].tolist() == [0, 1, 2]
    assert (found.error.message, found.error.at) == ("No.", 3)


def test_parts_that_may_be_finished_are_kept_until_their_text_is_forgotten() -> None:
    kept = []

    class Word:
        def __init__(self, text: str) -> None:
            self.text = text
            kept.append(weakref.ref(self))

    told = [Read(0, "ab"), Read(0), Read(0), Finish(0, 1, "!"), Forget(0)]
    alive = []

    def messages():
        for message in told:
            yield message
            alive.append([each() is not None for each in kept])

    sink = io.BytesIO()
    finisher = Finisher(lambda word: word.text.upper(), lambda word, more: word.text + more)
    answer_all(lambda job: map(Word, job), messages(), sink, finisher)
    assert alive == [[True], [True, True], [True, True], [True, False], [False, False]]
    assert [part.value for part in taken_off(bytearray(sink.getvalue()))] == ["A", "B", None, "b!"]


def test_messages_are_taken_off_as_they_arrive_in_pieces_of_any_size() -> None:
    sent = [Part("a"), Part(np.arange(500)), Part(None), Part("b")]
    stream = b"".join(packed(part) for part in sent)
    for size in (1, 3, 100, len(stream)):
        received, found = bytearray(), []
        for start in range(0, len(stream), size):
            received += stream[start : start + size]
            found += taken_off(received)
        assert not received
        assert [np.asarray(part.value).tolist() for part in found] == ["a", list(range(500)), None, "b"]


def test_a_part_that_is_too_long_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "MOST_BYTES", 1_000)
    sink = io.BytesIO()
    answer_all(lambda job: iter(["a", "b" * 2_000, "c"]), [Read(0, "job"), Read(0), Read(0)], sink)
    first, second, third = taken_off(bytearray(sink.getvalue()))
    assert (first.value, second.value, third.value) == ("a", None, "c")
    assert "too long" in second.error.message


def test_an_answer_that_is_too_long_is_none() -> None:
    with pytest.raises(ConnectionError, match="no answer"):
        taken_off(bytearray(SIZE.pack(2**31)))


@each_row(
    ("cores", "on_gpu", "asked", "count"),
    [
        (16, True, None, 8),
        (8, True, None, 4),
        (2, True, None, 0),
        (16, False, None, 0),
        (2, False, 3, 3),
        (16, True, 0, 0),
    ],
)
def test_a_gpu_has_them_where_there_are_cores(cores: int, on_gpu: bool, asked: int | None, count: int) -> None:
    assert worker_count(asked, cores, on_gpu=on_gpu) == count
