"""Regular expressions of callers: they find what they should, and none of them holds the server up."""

import asyncio
import time

import pytest

from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.service.pronunciation import pattern_worker
from polyvox.service.pronunciation.pattern_worker import PatternWorker
from polyvox.text.dictionary import CaseRule, DictionaryEntry, EntryKind

pytestmark = pytest.mark.anyio

HOSTILE = r"(a+)+$"
TEXT = "a" * 60 + "! 12k 7K"


def pattern(source: str, case: CaseRule = CaseRule.AUTO) -> DictionaryEntry:
    return DictionaryEntry(EntryKind.REGEX, source, "x", case=case)


@pytest.fixture
async def worker():
    made = PatternWorker(0.3)
    yield made
    await made.close()


async def test_patterns_find_their_matches_and_groups(worker):
    matches = await worker.find([pattern(r"(\d+)k"), pattern(r"(\d+)k", CaseRule.ANY), pattern("z*")], TEXT, "anna")
    assert [[(match.start, match.groups) for match in found] for found in matches.found] == [
        [(62, ("12k", "12"))],
        [(62, ("12k", "12")), (66, ("7K", "7"))],
        [],
    ]
    assert matches.slow == []


async def test_a_pattern_that_never_ends_is_killed_and_left_out_while_the_loop_goes_on(worker):
    await worker.find([pattern("b")], TEXT, "anna")  # the process is there
    ticks, began = 0, time.monotonic()
    search = asyncio.ensure_future(worker.find([pattern(r"\d+"), pattern(HOSTILE), pattern("!")], TEXT, "anna"))
    while not search.done():
        await asyncio.sleep(0.01)
        ticks += 1
    matches = search.result()
    assert time.monotonic() - began < 3
    assert ticks > 5
    assert [len(found) for found in matches.found] == [2, 0, 0]
    assert matches.slow == [HOSTILE, "!"]

    again = await worker.find([pattern(HOSTILE), pattern("!")], TEXT, "anna")
    assert [len(found) for found in again.found] == [0, 1]
    assert again.slow == [HOSTILE]


async def test_one_owners_patterns_do_not_hold_up_those_of_another(worker):
    await worker.find([pattern("b")], TEXT, "bert")
    slow = asyncio.ensure_future(worker.find([pattern(HOSTILE)], TEXT, "anna"))
    await asyncio.sleep(0)
    quick = await worker.find([pattern("!")], TEXT, "bert")
    assert len(quick.found[0]) == 1
    assert not slow.done()
    await slow


async def test_a_pattern_that_is_none_is_refused_by_its_number(worker):
    with pytest.raises(InvalidRequestError, match=r"entries\[4\].match is no regular expression") as refused:
        await worker.check([(2, pattern("a")), (4, pattern("("))])
    assert refused.value.field == "entries[4].match"
    await worker.check([(2, pattern("a"))])


async def test_a_process_that_has_died_is_replaced(worker):
    await worker.find([pattern("!")], TEXT, "anna")
    await worker._idle[0].kill()
    assert len((await worker.find([pattern("!")], TEXT, "anna")).found[0]) == 1


async def test_without_a_process_speech_goes_on_and_checks_say_to_try_again(worker, monkeypatch):
    monkeypatch.setattr(pattern_worker.sys, "executable", "/nonexistent/python")
    matches = await worker.find([pattern("!")], TEXT, "anna")
    assert (matches.found, matches.slow) == ([()], ["!"])
    with pytest.raises(UnavailableError, match="try again"):
        await worker.check([(0, pattern("!"))])
