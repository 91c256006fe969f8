"""Admission as the service sees it: of this process, or one for several processes."""

from typing import Protocol

from polyvox.service.admission.admission_request import AdmissionRequest
from polyvox.service.admission.ticket import SessionTicket


class Admission(Protocol):
    """The decision on who is spoken now and who waits, made in this process or for several of them."""

    @property
    def active(self) -> int: ...

    @property
    def waiting(self) -> int: ...

    @property
    def limit(self) -> int: ...

    def expected_wait(self) -> float: ...

    def completed(self, model: str, audio: float, busy_seconds: float) -> None: ...

    def least_seconds(self, model: str, audio: float) -> float: ...

    async def admit(self, asked: AdmissionRequest, capacity: float | None) -> SessionTicket: ...
