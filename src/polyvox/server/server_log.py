"""Filter of uvicorn's lines in the log: no queries, which can hold keys, and no line for each broken request."""

import logging

_COUNTED = ("Invalid HTTP request received.", "Invalid UTF-8 sequence received from client.")
_QUERY = "?"


def install_filters() -> None:
    """Filter uvicorn's loggers; calling it again changes nothing."""
    logging.getLogger("uvicorn.error").addFilter(_is_uncounted)
    for name in ("uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).addFilter(_without_queries)


def _is_uncounted(record: logging.LogRecord) -> bool:
    """Drop uvicorn's own line about each invalid request or message, which `LimitReports` counts.

    A client could fill the disk with them.
    """
    return record.msg not in _COUNTED


def _without_queries(record: logging.LogRecord) -> bool:
    """Cut every path at its query, also where it leads nowhere: somebody may have sent a key to the wrong path."""
    if isinstance(record.args, tuple):
        record.args = tuple(_cut(each) if isinstance(each, str) else each for each in record.args)
    return True


def _cut(text: str) -> str:
    before, mark, _ = text.partition(_QUERY)
    return f"{before}{mark}..." if mark else text
