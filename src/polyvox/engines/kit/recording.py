"""Work that is captured ahead, as CUDA graphs or by a compiler, with one fall-back where that fails."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import structlog

if TYPE_CHECKING:
    from polyvox.runtime.executors.cuda_graphs import Replay

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
        warning = _warning(what, error)
    # Outside the handler: the error's traceback would keep the memory of the failed capture.
    log.warning(warning)
    return eager(), warning


def captured_with(
    recorder: "Callable[[], Replay] | None", what: str, make: "Callable[[Replay | None], T]", warm: Callable[[T], None]
) -> tuple[T, str]:
    """As `captured_or_eager`, for what `make` gives and `warm` captures; `make(None)` where there is no recorder."""
    if recorder is None:
        return make(None), ""

    def captured() -> T:
        made = make(recorder())
        warm(made)
        return made

    return captured_or_eager(what, captured, lambda: make(None))


async def captured_or_eager_async(
    what: str, capture: Callable[[], Awaitable[T]], eager: Callable[[], Awaitable[T]]
) -> tuple[T, str]:
    """As `captured_or_eager`, for work that awaits its device."""
    try:
        return await capture(), ""
    except RuntimeError as error:
        warning = _warning(what, error)
    log.warning(warning)
    return await eager(), warning


def _warning(what: str, error: RuntimeError) -> str:
    return f"{what} could not be captured ({first_line(error)}), so it runs eagerly and more slowly."


def first_line(error: BaseException) -> str:
    """An error's message in one line."""
    return (str(error).splitlines() or [type(error).__name__])[0]
