"""Captured work with one fall-back."""

import gc
import weakref

import pytest
from structlog.testing import capture_logs

from polyvox.engines.kit.recording import captured_or_eager, first_line


def failing(message):
    def capture():
        raise RuntimeError(message)

    return capture


def test_what_can_be_captured_is_and_nothing_is_said():
    with capture_logs() as logs:
        assert captured_or_eager("The flow", lambda: "captured", lambda: pytest.fail("ran eagerly")) == ("captured", "")
    assert logs == []


def test_a_capture_that_fails_falls_back_with_a_warning_for_the_operator():
    with capture_logs() as logs:
        result, warning = captured_or_eager("The flow", failing("bad shape\nand a trace"), lambda: "eager")
    assert result == "eager"
    assert warning == "The flow could not be captured (bad shape), so it runs eagerly and more slowly."
    assert [(line["event"], line["log_level"]) for line in logs] == [(warning, "warning")]


def test_other_errors_are_not_hidden():
    def capture():
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        captured_or_eager("The flow", capture, lambda: "eager")


@pytest.mark.long
def test_memory_of_the_failed_capture_is_free_before_the_fallback_runs():
    class Memory:
        pass

    kept = []

    def capture():
        memory = Memory()
        kept.append(weakref.ref(memory))
        raise RuntimeError("bad shape")

    def eager():
        gc.collect()
        return kept[0]() is None

    assert captured_or_eager("The flow", capture, eager)[0]


def test_an_error_without_a_message_is_named():
    assert first_line(RuntimeError()) == "RuntimeError"
    assert first_line(RuntimeError("one\ntwo")) == "one"
