"""Workers that share out the files of tests, forked from a process that has imported and collected all of them once.

A worker costs nothing to start, where one that imports and collects for itself takes 18 s of CPU time, and twice that
on a fresh checkout. Nothing runs in the process that forks: it has one thread and no event loop.
"""

import atexit
import gc
import multiprocessing
import os
import sys
import warnings
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, groupby, pairwise
from multiprocessing.connection import Connection, wait
from pathlib import Path

import pytest

_FORK = multiprocessing.get_context("fork")
_MANY_FILES = 30
"""So many files of tests with real models keep all workers busy: each would load the models for itself."""


class _Worker:
    """A process that runs tests; its side asks for files of tests, and sends reports and warnings."""

    def __init__(self, session: pytest.Session, name: str, others: Collection[Connection]) -> None:
        self.given: deque[int] = deque()
        self._session = session
        self._name = name
        self.connection, self._parent = _FORK.Pipe()
        self._inherited = (*others, self.connection)
        self.process = _FORK.Process(target=self._run, name=name)
        self.process.start()
        self._parent.close()

    def _run(self) -> None:
        for connection in self._inherited:
            connection.close()
        config = self._session.config
        capture = config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()  # the files that take output would be shared
        if config.option.capture != "no":  # nor do servers of several tests write between the dots
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        capture.start_global_capturing()
        capture.suspend_global_capture()
        folder = config._tmp_path_factory.getbasetemp() / self._name
        folder.mkdir()
        config._tmp_path_factory._basetemp = folder
        config.pluginmanager.unregister(name="terminalreporter")
        messages = _Messages(config, self._parent)
        config.pluginmanager.register(messages)
        messages.are_new = True
        try:
            with suppress(BrokenPipeError, ConnectionResetError, EOFError, KeyboardInterrupt):  # the run was ended
                for item, following in pairwise(chain(self._items(), [None])):
                    assert item is not None
                    config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        finally:
            self._session._setupstate.teardown_exact(None)
            atexit._run_exitfuncs()

    def _items(self) -> Iterator[pytest.Item]:
        while True:
            self._parent.send(("more", None))
            indices = self._parent.recv()
            if not indices:
                break
            for index in indices:
                yield self._session.items[index]


class _Messages:
    """Plugin of a worker that sends what it learns to the process that reports."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection
        self.are_new = False
        """A plugin that registers is told all warnings there were; those the other process knows."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        content = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(("report", content))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: tuple[str, int, str] | None
    ) -> None:
        if self.are_new:
            text, category = str(warning_message.message), warning_message.category
            copied = warnings.WarningMessage(text, category, warning_message.filename, warning_message.lineno)
            content = {"warning_message": copied, "when": when, "nodeid": nodeid, "location": location}
            self._connection.send(("warning", content))


class ForkedWorkers:
    """Plugin that runs the tests of one file in one worker, and reports what all of them find.

    Tests that are marked `alone` run when all others have ended, two files at a time.
    """

    def __init__(self, config: pytest.Config, workers: int) -> None:
        self._config = config
        self._workers = workers
        self._files: deque[Sequence[int]] = deque()
        self._running: dict[Connection, _Worker] = {}
        self._started = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        alone, others = [], []
        for index, item in enumerate(session.items):
            (alone if item.get_closest_marker("alone") else others).append(index)
        if len({item.path for item in session.items}) < 2 or session.testsfailed or session.config.option.collectonly:
            return None  # one file needs no worker; and what cannot be collected is not run
        if "helpers.fork_server" in sys.modules and any(item.get_closest_marker("long") for item in session.items):
            sys.modules["helpers.fork_server"].fork_server()  # one for all workers
        if len({item.path for item in session.items if item.get_closest_marker("slow")}) >= _MANY_FILES:
            _load_networks()
        _check_nothing_is_shared(session.config.rootpath)
        session.config._tmp_path_factory.getbasetemp()
        session.config.pluginmanager.getplugin("terminalreporter").showfspath = False  # files would take turns
        self._run(session, others, self._workers)
        self._run(session, alone, 2)
        return True

    def _run(self, session: pytest.Session, indices: Iterable[int], workers: int) -> None:
        self._files.extend([*file] for _, file in groupby(indices, key=lambda index: session.items[index].path))
        for _ in range(min(workers, len(self._files))):
            self._start(session)
        try:
            while self._running and not session.shouldfail:
                for connection in wait([*self._running]):
                    self._answer(session, self._running[connection])
        finally:
            for connection in self._running:
                connection.close()
            for worker in self._running.values():
                worker.process.join()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)

    def _start(self, session: pytest.Session) -> None:
        worker = _Worker(session, f"worker-{self._started}", self._running)
        self._started += 1
        self._running[worker.connection] = worker

    def _answer(self, session: pytest.Session, worker: _Worker) -> None:
        try:
            kind, content = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            self._end(session, worker)
            return
        if kind == "more":
            file = self._files.popleft() if self._files else ()
            worker.given.extend(file)
            with suppress(BrokenPipeError):  # its end is read next
                worker.connection.send(file)
        elif kind == "report":
            report = self._config.hook.pytest_report_from_serializable(config=self._config, data=content)
            self._config.hook.pytest_runtest_logreport(report=report)
            if report.when == "teardown":
                worker.given.popleft()
        else:
            self._config.hook.pytest_warning_recorded.call_historic(kwargs=content)

    def _end(self, session: pytest.Session, worker: _Worker) -> None:
        """Report a worker that ended too early at the test that it ran; another one runs the rest of its file."""
        del self._running[worker.connection]
        worker.connection.close()
        worker.process.join()
        if not worker.given:
            assert worker.process.exitcode == 0, "a worker failed between its tests; its reason is on the error output"
            return
        item = session.items[worker.given.popleft()]
        ended = f"the worker that ran it ended with status {worker.process.exitcode}"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", ended, "call")
        self._config.hook.pytest_runtest_logreport(report=report)
        if worker.given:
            self._files.appendleft([*worker.given])
        if self._files and not session.shouldfail:
            self._start(session)


def _load_networks() -> None:
    """Load what the workers would, and let collections of garbage pass over it."""
    from helpers.loaded_once import load_all

    load_all()
    gc.collect()
    gc.freeze()


def _check_nothing_is_shared(root: Path) -> None:
    """Refuse to fork threads, which would be lost, and files that tests have open, which would share a position."""
    assert len([*Path("/proc/self/task").iterdir()]) == 1, "a module that tests import has started a thread"
    opened = [link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    shared = [str(file) for file in opened if file.is_relative_to(root / "tests")]
    assert not shared, f"modules of tests have left files open: {shared}"
