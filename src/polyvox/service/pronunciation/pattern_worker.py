"""Runs callers' regular expressions in processes of their own, under a time limit that holds whatever they are."""

import asyncio
import json
import sys
import time
from asyncio.subprocess import Process
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

import structlog

from polyvox.child_process import end_child, start_child
from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.service.pronunciation import pattern_child
from polyvox.text.dictionary import CaseRule, DictionaryEntry, PatternMatch

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_WORKERS: Final = 2
_MAX_LINE_BYTES: Final = 33_554_432
_START_SECONDS: Final = 5.0
_SLOW_SECONDS: Final = 300.0
"""Time for which a pattern that ran out of time is left out."""
_MAX_SLOW: Final = 10_000


@dataclass(slots=True)
class PatternMatches:
    """The matches of some patterns, in their order, and those that were left out because they take too long."""

    found: list[tuple[PatternMatch, ...]] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)


class PatternWorker:
    """Two processes for all owners, of whom each has one at a time: nobody's patterns keep all others waiting.

    A process that does not answer in time is killed, and the pattern it was at is left out for a while.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._idle: list[_Child] = []
        self._free = asyncio.Semaphore(_WORKERS)
        self._owners: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._slow: OrderedDict[tuple[str, str], float] = OrderedDict()

    async def find(self, entries: Sequence[DictionaryEntry], text: str, owner: str) -> PatternMatches:
        """Find the matches of patterns in a text, of those that do so in time."""
        matches = PatternMatches([()] * len(entries))
        now = time.monotonic()
        due = [index for index, entry in enumerate(entries) if self._slow.get((owner, entry.match), 0.0) <= now]
        matches.slow += [entry.match for index, entry in enumerate(entries) if index not in due]
        if due:
            lock = self._owners.setdefault(owner, asyncio.Lock())
            try:
                async with asyncio.timeout(self._seconds + _START_SECONDS), lock, self._free:
                    await self._run(entries, due, text, owner, matches)
            except (TimeoutError, OSError) as error:  # there was no turn or no process for them
                log.warning("patterns of dictionaries were not run", reason=repr(error), patterns=len(due))
                matches.slow += [entries[index].match for index in due]
        return matches

    async def check(self, patterns: Sequence[tuple[int, DictionaryEntry]]) -> None:
        """Refuse patterns that are none, by their numbers among all entries."""
        if not patterns:
            return
        try:
            async with asyncio.timeout(2 * _START_SECONDS), self._free:
                answers = await self._compiled([entry for _, entry in patterns])
        except (TimeoutError, OSError, ValueError) as error:
            raise UnavailableError("Regular expressions cannot be checked now; try again.", retry=True) from error
        for (number, _), answer in zip(patterns, answers, strict=True):
            if "error" in answer:
                raise InvalidRequestError(
                    f"entries[{number}].match is no regular expression that can be used: {answer['error']}.",
                    field=f"entries[{number}].match",
                )

    async def _compiled(self, entries: Sequence[DictionaryEntry]) -> list[Mapping[str, Any]]:
        """Let the process compile patterns, without a text."""
        child = await self._child()
        try:
            await child.send(entries, "")
            answers = [await child.answer() for _ in entries]
        except BaseException:
            await child.kill()
            raise
        self._idle.append(child)
        return answers

    async def close(self) -> None:
        """End the processes."""
        while self._idle:
            await self._idle.pop().kill()

    async def _run(
        self, entries: Sequence[DictionaryEntry], due: Sequence[int], text: str, owner: str, matches: PatternMatches
    ) -> None:
        """Run patterns one after the other within the time for all of them."""
        child = await self._child()
        done = 0
        try:
            async with asyncio.timeout(self._seconds):
                await child.send([entries[index] for index in due], text)
                for index in due:
                    matches.found[index] = _matches(await child.answer())
                    done += 1
        except (TimeoutError, OSError, ValueError):
            await child.kill()
            self._leave_out(owner, entries[due[done]].match)
            matches.slow += [entries[index].match for index in due[done:]]
        except BaseException:
            await child.kill()
            raise
        else:
            self._idle.append(child)

    def _leave_out(self, owner: str, pattern: str) -> None:
        """Remember a pattern that does not end, and forget the oldest ones."""
        log.warning("pattern of a dictionary takes too long", pattern=pattern, seconds=self._seconds)
        self._slow[owner, pattern] = time.monotonic() + _SLOW_SECONDS
        while len(self._slow) > _MAX_SLOW:
            self._slow.popitem(last=False)

    async def _child(self) -> "_Child":
        """A process that is ready."""
        while self._idle:
            child = self._idle.pop()
            if child.alive:
                return child
        return await _Child.started()


@dataclass(frozen=True, slots=True)
class _Child:
    """One process; `kill` it when it was left in the middle of an answer."""

    process: Process

    @classmethod
    async def started(cls) -> "_Child":
        command = (sys.executable, "-I", "-S", str(Path(pattern_child.__file__)))
        child = cls(await start_child(*command, limit=_MAX_LINE_BYTES, quiet=True))
        try:
            async with asyncio.timeout(_START_SECONDS):
                await child.answer()  # it says that it is ready
        except BaseException:
            await child.kill()
            raise
        return child

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def send(self, entries: Sequence[DictionaryEntry], text: str) -> None:
        patterns = [[entry.match, entry.case is CaseRule.ANY] for entry in entries]
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"text": text, "patterns": patterns}).encode() + b"\n")
        await self.process.stdin.drain()

    async def answer(self) -> Mapping[str, Any]:
        """The answer to the next pattern; `OSError` where the process has gone."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            raise BrokenPipeError
        found: Mapping[str, Any] = json.loads(line)
        return found

    async def kill(self) -> None:
        await end_child(self.process)


def _matches(answer: Mapping[str, Any]) -> tuple[PatternMatch, ...]:
    return tuple(PatternMatch(start, end, tuple(groups)) for start, end, groups in answer.get("matches", ()))
