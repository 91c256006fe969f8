"""Destinations of log lines: standard error, and a rotated, compressed file where asked."""

import gzip
import io
import logging
import queue
import re
import shutil
import sys
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from typing import TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

from polyvox.config import Settings

_QUEUED_LINES = 10_000
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_QUIET_LOGGERS = ("mcp",)  # it names sessions, which are as good as keys where there are none
_SERVER_LOGGERS = ("uvicorn", "uvicorn.error", "uvicorn.access")


def configure_logging(settings: Settings) -> None:
    """Send every line, the web server's too, through one form to the places the settings name.

    Each line carries the id of the session it was written in. Calling this again replaces what the last call set up.
    """
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handlers: list[logging.Handler] = [_ErrorStreamHandler(_formatter(settings, shared))]
    if settings.log_file is not None:
        handlers.append(_FileHandler(settings, settings.log_file, _json_formatter(shared)))
    _install(handlers, level)


class _ErrorStreamHandler(logging.StreamHandler):  # type: ignore[type-arg]
    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(formatter)


class _FileHandler(QueueHandler):
    """Formats a line where it is written, in the writer's context; a thread of its own does the disk's work.

    Rotation compresses megabytes: on the event loop every stream would stand still meanwhile.
    """

    def __init__(self, settings: Settings, path: Path, formatter: logging.Formatter) -> None:
        super().__init__(queue.Queue(_QUEUED_LINES))
        self.setFormatter(formatter)
        self._file = _rotating_file(path, settings.log_file_bytes, settings.log_file_keep)
        self._listener = QueueListener(self.queue, self._file)
        self._listener.start()
        self._open = True

    def close(self) -> None:
        """Write what is queued, end the thread, close the file."""
        if self._open:
            self._open = False
            self._listener.stop()
            self._file.close()
        super().close()


def _rotating_file(path: Path, max_bytes: int, keep: int) -> RotatingFileHandler:
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(path, maxBytes=max_bytes, backupCount=keep, encoding="utf-8")
    handler.namer = lambda name: f"{name}.gz"
    handler.rotator = _compress
    return handler


def _compress(source: str, target: str) -> None:
    """Pack a full log file. Under another name until complete, so that a crash leaves no broken archive."""
    partial = Path(f"{target}.part")
    with Path(source).open("rb") as plain, gzip.open(partial, "wb") as packed:
        shutil.copyfileobj(plain, packed)
    partial.replace(target)
    Path(source).unlink()


def _formatter(settings: Settings, shared: list[Processor]) -> logging.Formatter:
    on_console = settings.log_format == "console" or (settings.log_format == "auto" and sys.stderr.isatty())
    if not on_console:
        return _json_formatter(shared)
    renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=_escaped_traceback)
    return _processor_formatter(shared, [_escape_control_characters, renderer])


def _escaped_traceback(sio: TextIO, exc_info: ExcInfo) -> None:
    """The plain traceback: the prettier ones print local variables, and with them what people asked to be spoken."""
    plain = io.StringIO()
    structlog.dev.plain_traceback(plain, exc_info)
    sio.write("\n".join(_escaped(line) for line in plain.getvalue().split("\n")))


def _escape_control_characters(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Show control characters as escapes: on a terminal those that come from a request could move or hide lines."""
    return {name: _escaped(value) if isinstance(value, str) else value for name, value in event.items()}


def _escaped(text: str) -> str:
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def _json_formatter(shared: list[Processor]) -> logging.Formatter:
    return _processor_formatter(
        shared, [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    )


def _processor_formatter(shared: list[Processor], last: list[Processor]) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
    )


def _install(handlers: list[logging.Handler], level: int) -> None:
    root = logging.getLogger()
    for old in list(root.handlers):
        if isinstance(old, _ErrorStreamHandler | _FileHandler):
            root.removeHandler(old)
            old.close()
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    for name in _SERVER_LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.NOTSET)
