"""Work that is captured ahead, as CUDA graphs or by a compiler, with one fall-back where that fails."""

from collections.abc import Callable
from typing import TypeVar

import structlog

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")


def captured_or_eager(what: str, capture: Callable[[], T], eager: Callable[[], T]) -> tuple[T, str]:
    """Return `capture()` and no warning; where it fails, `eager()` and a warning for the operator.

    `what` begins the warning, as in "CosyVoice's flow". A capture raises `RuntimeError` when a shape cannot be captured
    or when what was captured computes something else.
    """
    try:
        return capture(), ""
    except RuntimeError as error:
        warning = f"{what} could not be captured ({first_line(error)}), so it runs eagerly and more slowly."
    # Outside the handler: the error's traceback would keep the memory of the failed capture.
    log.warning(warning)
    return eager(), warning


def first_line(error: BaseException) -> str:
    """An error's message in one line."""
    return (str(error).splitlines() or [type(error).__name__])[0]
