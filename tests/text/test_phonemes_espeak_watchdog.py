"""Programs that overrun their time are ended, by one thread for all of them."""

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from polyvox.errors import EngineError
from polyvox.text.phonemes.espeak import program as espeak_program
from polyvox.text.phonemes.espeak.program import EspeakProgram
from polyvox.text.phonemes.espeak.watchdog import WATCHDOG, Watchdog

SOON, LONG = 0.05, 60.0


def watchdogs() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "espeak-watchdog"]


def fake(folder: Path, script: str) -> EspeakProgram:
    path = folder / "fake-espeak"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return EspeakProgram(str(path), "en-us", "en-us")


def test_what_overruns_is_killed_once_though_an_earlier_call_has_longer() -> None:
    watchdog, killed, patient = Watchdog(), list[float](), threading.Event()
    with watchdog.limit(LONG, patient.set), watchdog.limit(SOON, lambda: killed.append(time.monotonic())):
        time.sleep(6 * SOON)
    assert len(killed) == 1
    assert not patient.is_set()


def test_what_ends_in_time_is_left_alone_and_later_calls_are_watched_still() -> None:
    watchdog, early, late = Watchdog(), threading.Event(), threading.Event()
    with watchdog.limit(SOON, early.set):
        pass
    time.sleep(3 * SOON)  # the thread has waited in vain, and has nothing to wait for
    with watchdog.limit(SOON, late.set):
        assert late.wait(LONG)
    assert not early.is_set()


def test_one_that_cannot_be_killed_does_not_end_the_watch() -> None:
    def refuse() -> None:
        raise PermissionError

    watchdog, killed = Watchdog(), threading.Event()
    with watchdog.limit(0, refuse), watchdog.limit(SOON, killed.set):
        assert killed.wait(LONG)


def test_calls_in_quick_succession_neither_start_threads_nor_wake_the_one() -> None:
    watchdog = Watchdog()
    with watchdog.limit(LONG, lambda: None):
        time.sleep(SOON)
    before = set(threading.enumerate())
    woken = list[int]()
    watchdog._changed.notify = lambda n=1: woken.append(n)  # type: ignore[method-assign]
    for _ in range(100):
        with watchdog.limit(LONG, lambda: None):
            assert set(threading.enumerate()) <= before
    assert woken == []


def test_a_hanging_program_is_ended_by_the_thread_of_all_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fake(tmp_path, "cat").phonemize(["a", "b"]) == ["a", "b"]
    watching = WATCHDOG._thread
    hanging = fake(tmp_path, "exec sleep 30")
    monkeypatch.setattr(espeak_program, "_TIMEOUT_SECONDS", 0.2)
    began = time.monotonic()
    with pytest.raises(EngineError, match="took too long"):
        hanging.phonemize(["a"])
    assert time.monotonic() - began < 10
    assert WATCHDOG._thread is watching


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_process_has_a_watch_of_its_own() -> None:
    with WATCHDOG.limit(LONG, lambda: None):
        child = os.fork()
        if child == 0:
            killed = threading.Event()
            with WATCHDOG.limit(SOON, killed.set):
                seen = killed.wait(10)
            os._exit(0 if seen and not WATCHDOG._deadlines else 1)
        assert os.waitpid(child, 0)[1] == 0
