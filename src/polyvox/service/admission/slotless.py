"""The ticket of a session that needs no model, and so neither waits for a slot nor holds one."""

from collections.abc import Callable


class SlotlessTicket:
    """Does for a session what a `Ticket` does, without any admission."""

    def __init__(self) -> None:
        self.on_drop: Callable[[], None] = lambda: None

    @property
    def seconds_ahead(self) -> float:
        """It has no slot that another could have after it."""
        return 0.0

    async def granted(self) -> None:
        """Nothing is waited for."""

    async def turn(self) -> None:
        """Nobody else needs what this session reads."""

    def produced(self, audio: float, seconds: float | None) -> None:
        """It says nothing about the model's pace."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def idle(self) -> None: ...

    async def text_came(self) -> None:
        """It holds nothing that it would have to ask for again."""

    def read(self) -> None: ...

    def finish(self) -> None: ...

    def release(self) -> None: ...
