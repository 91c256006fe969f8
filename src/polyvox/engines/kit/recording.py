"""Work that is captured ahead, as CUDA graphs or by a compiler, with one fall-back where that fails."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")


def captured_or_eager(what: str, capture: Callable[[], T], eager: Callable[[], T]) -> tuple[T, str]:
    """What `capture` makes and no warning; where it fails, what `eager` makes and a warning for the operator.

    `what` begins the warning, as in "CosyVoice's flow". A capture raises `RuntimeError` when a shape cannot be captured
    or when what was captured computes something else.
    """
    try:
        return capture(), ""
    except RuntimeError as error:
        warning = _warned(what, error)
        return eager(), warning


async def captured_or_eager_async(
    what: str, capture: Callable[[], Awaitable[T]], eager: Callable[[], Awaitable[T]]
) -> tuple[T, str]:
    """As `captured_or_eager`, for work that awaits its device."""
    try:
        return await capture(), ""
    except RuntimeError as error:
        warning = _warned(what, error)
        return await eager(), warning


def _warned(what: str, error: RuntimeError) -> str:
    warning = f"{what} could not be captured ({first_line(error)}), so it runs eagerly and more slowly."
    log.warning(warning)
    return warning


def first_line(error: BaseException) -> str:
    """An error's message in one line."""
    return (str(error).splitlines() or [type(error).__name__])[0]
