"""Tables of cases: one test runs all rows of a table, and its failure names every row that fails."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest


def each_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a test with every row, as `parametrize` does, but as one test: thousands of rows cost no set-up of their own.

    Fixtures are shared by the rows. Where a row needs fresh ones, `parametrize` is right.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    plain = isinstance(names, str) and len(columns) == 1
    table = [dict(zip(columns, (row,) if plain else row, strict=True)) for row in rows]
    assert table, "a table without rows tests nothing"

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(test)
        def run(*args: Any, **fixtures: Any) -> None:
            failures = _Failures()
            for row in table:
                with failures.caught(row):
                    test(*args, **fixtures, **row)
            failures.report(len(table))

        @wraps(test)
        async def run_async(*args: Any, **fixtures: Any) -> None:
            failures = _Failures()
            for row in table:
                with failures.caught(row):
                    await test(*args, **fixtures, **row)
            failures.report(len(table))

        chosen: Any = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        assert set(columns) <= set(signature.parameters), f"{test.__name__} does not take {columns}"
        rest = [parameter for name, parameter in signature.parameters.items() if name not in columns]
        chosen.__signature__ = signature.replace(parameters=rest)
        return chosen

    return decorate


class _Failures:
    """The rows that failed so far, each with its error."""

    def __init__(self) -> None:
        self._errors: list[BaseException] = []
        self._rows: list[str] = []

    @contextmanager
    def caught(self, row: dict[str, Any]) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - reported when all rows have run
            self._rows.append(", ".join(f"{name}={value!r:.200}" for name, value in row.items()))
            error.add_note(f"row: {self._rows[-1]}")
            self._errors.append(error)

    def report(self, count: int) -> None:
        if self._errors:
            raise BaseExceptionGroup(f"{len(self._rows)} of {count} rows fail: {'; '.join(self._rows)}", self._errors)
