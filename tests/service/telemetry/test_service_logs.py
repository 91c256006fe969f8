"""Where log lines go, and what is in them."""

import gzip
import json
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from structlog.contextvars import bound_contextvars

from helpers.fakes import tone_settings
from polyvox.service.telemetry.logs import configure_logging


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Undo whatever a test configured."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for handler in [handler for handler in root.handlers if handler not in handlers]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    structlog.reset_defaults()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_lines_are_json_on_standard_error_with_time_level_and_session(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(tone_settings(log_format="json"))
    with bound_contextvars(session="abc"):
        structlog.get_logger("polyvox.test").info("hello", answer=42, word="wörd")
    (line,) = lines(capsys)
    assert (line["event"], line["level"], line["session"], line["answer"]) == ("hello", "info", "abc", 42)
    assert line["word"] == "wörd"
    assert line["logger"] == "polyvox.test"
    assert str(line["timestamp"]).endswith("Z")


@pytest.mark.parametrize("name", ["uvicorn.error", "uvicorn.access", "some.library"])
def test_lines_of_libraries_take_the_same_form_once(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    noisy = logging.getLogger(name)
    noisy.addHandler(own := logging.StreamHandler(sys.stderr))
    noisy.propagate = name == "some.library"
    try:
        configure_logging(tone_settings(log_format="json"))
        if name == "some.library":
            noisy.removeHandler(own)
        with bound_contextvars(session="abc"):
            noisy.warning("from %s", "afar")
    finally:
        noisy.removeHandler(own)
    (line,) = lines(capsys)
    assert (line["event"], line["level"], line["logger"], line["session"]) == ("from afar", "warning", name, "abc")


def test_what_is_below_the_level_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(tone_settings(log_format="json", log_level="warning"))
    structlog.get_logger().info("whisper")
    logging.getLogger("some.library").info("whisper")
    structlog.get_logger().warning("shout")
    assert [line["event"] for line in lines(capsys)] == ["shout"]


def test_sessions_of_mcp_clients_are_not_named(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(tone_settings(log_format="json", log_level="debug"))
    logging.getLogger("mcp.server.streamable_http_manager").info("Created session 1234")
    logging.getLogger("mcp.server.streamable_http_manager").warning("It broke.")
    assert [line["event"] for line in lines(capsys)] == ["It broke."]


def test_auto_means_json_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(tone_settings(log_format="auto"))
    structlog.get_logger().info("hello")
    assert lines(capsys)[0]["event"] == "hello"


def test_a_terminal_gets_readable_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    configure_logging(tone_settings(log_format="auto"))
    structlog.get_logger().info("hello", answer=42)
    printed = capsys.readouterr().err
    assert "hello" in printed
    assert not printed.startswith("{")


@pytest.mark.parametrize("form", ["json", "console"])
def test_tracebacks_are_complete_but_show_no_variables(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(tone_settings(log_format=form))
    private = "what somebody asked us to say"
    try:
        len(private) / 0
    except ZeroDivisionError:
        structlog.get_logger().exception("failed")
    printed = capsys.readouterr().err
    assert "ZeroDivisionError" in printed
    assert "Traceback" in printed
    assert "test_service_logs.py" in printed
    assert private not in printed


def test_configuring_again_replaces_the_last_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    threads = threading.active_count()
    configure_logging(tone_settings(log_format="json", log_file=tmp_path / "first.log"))
    configure_logging(tone_settings(log_format="json"))
    assert threading.active_count() == threads
    structlog.get_logger().info("once")
    assert len(lines(capsys)) == 1
    assert (tmp_path / "first.log").read_text() == ""


def test_a_line_that_pretends_to_be_two_stays_one(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(tone_settings(log_format="json"))
    structlog.get_logger().info("hello", voice='x\n{"event": "forged"}')
    assert [line["event"] for line in lines(capsys)] == ["hello"]


def test_no_escape_sequence_of_a_request_reaches_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(tone_settings(log_format="console"))
    log = structlog.get_logger("polyvox.test")
    log.warning("a\x1b[2Jname", voice="\x1b]0;title\x07\x9b31m")
    try:
        raise ValueError("\x1b[1;31mred")
    except ValueError:
        log.exception("failed")
    printed = capsys.readouterr().err
    assert not [char for char in printed if char != "\n" and not char.isprintable()]
    assert r"a\x1b[2Jname" in printed
    assert r"\x1b[1;31mred" in printed


def test_the_file_gets_json_too_written_by_a_thread_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "polyvox.log"
    configure_logging(tone_settings(log_format="console", log_file=path))
    with bound_contextvars(session="abc"):
        structlog.get_logger().info("hello")
        logging.getLogger("uvicorn.error").info("from %s", "afar")
    configure_logging(tone_settings())
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert (first["event"], first["session"]) == ("hello", "abc")
    assert (second["event"], second["session"]) == ("from afar", "abc")


def test_a_full_file_is_compressed_and_a_limited_number_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "polyvox.log"
    configure_logging(tone_settings(log_format="json", log_file=path, log_file_bytes=4096, log_file_keep=2))
    for number in range(200):
        structlog.get_logger().info("line", number=number)
    configure_logging(tone_settings())
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "polyvox.log",
        "polyvox.log.1.gz",
        "polyvox.log.2.gz",
    ]
    kept = [gzip.decompress((tmp_path / f"polyvox.log.{n}.gz").read_bytes()).decode() for n in (2, 1)]
    numbers = [json.loads(line)["number"] for line in "".join([*kept, path.read_text()]).splitlines()]
    assert numbers == list(range(numbers[0], 200))
    assert path.stat().st_size <= 4096
