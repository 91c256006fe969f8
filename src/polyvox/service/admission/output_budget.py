"""Memory for answers that are sent as one body: one budget for all requests."""

import asyncio

from polyvox.errors import InvalidRequestError, OverloadedError

_RETRY_SECONDS = 5.0


class OutputBudget:
    """At most `total` bytes of finished audio wait in memory until their requests are complete and sent."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._holders: dict[OutputReservation, None] = {}  # in the order of their first byte
        self._changed = asyncio.Event()
        self.used = 0

    def reservation(self, patience: float) -> "OutputReservation":
        """An empty reservation for one request, which waits at most `patience` seconds for others."""
        return OutputReservation(self, patience)

    async def grow(self, holder: "OutputReservation", size: int, patience: float) -> None:
        """Called by the reservation.

        Where the budget is spent, the request that began last is refused and the others wait: the first always goes on.
        """
        if size > self._total:
            raise InvalidRequestError(
                f"The answer takes more than the {self._total / 1e6:,.0f} MB that this server keeps of answers sent as "
                "a whole; ask for a stream, for a compressed format, or send less text."
            )
        self._holders.setdefault(holder)
        try:
            async with asyncio.timeout(patience):
                while self.used + size - holder.size > self._total:
                    if holder is next(reversed(self._holders)):
                        raise TimeoutError
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise OverloadedError(
                f"Answers sent as a whole take all of the {self._total / 1e6:,.0f} MB that this server keeps for them; "
                f"ask for a stream, or try again in {_RETRY_SECONDS:.0f} s.",
                retry_after=_RETRY_SECONDS,
            ) from None
        self.used += size - holder.size
        holder.size = size

    def release(self, holder: "OutputReservation") -> None:
        """Called by the reservation."""
        self._holders.pop(holder, None)
        self.used -= holder.size
        holder.size = 0
        self._changed.set()


class OutputReservation:
    """The share of one request, which grows with its answer until it is released."""

    def __init__(self, budget: OutputBudget, patience: float) -> None:
        self._budget = budget
        self._patience = patience
        self.size = 0

    async def grow_to(self, size: int) -> None:
        """Take more where the answer has grown; waits or raises where the budget is spent."""
        if size > self.size:
            await self._budget.grow(self, size, self._patience)

    def release(self) -> None:
        """Give everything back; idempotent."""
        self._budget.release(self)
