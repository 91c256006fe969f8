"""The path of one request: the files and functions of the project that it passes, and the records that hand it on.

`PYTHONPATH=tests python -m helpers.request_path` prints them.
"""

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import polyvox
from helpers.fakes import PlainToneEngine, tone_service
from helpers.serving import called
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.service.speech import SpeechService

PACKAGE = Path(polyvox.__file__).parent
SPEECH = {"input": "The tide is out.", "voice": "low", "response_format": "pcm"}
RECORDS = (
    "polyvox.api.requests.speech_requests",
    "polyvox.service.speech",
    "polyvox.service.session",
    "polyvox.service.call_context",
    "polyvox.service.admission.queue",
    "polyvox.service.admission.ticket",
)
"""Beginnings of the modules whose records hand a request on from its door to its session."""


@dataclass(slots=True)
class RequestPath:
    """What ran of the project while `recording`; a function counts once, however often it was called."""

    functions: set[tuple[str, str]] = field(default_factory=set)
    records: set[str] = field(default_factory=lambda: {SpeechBody.__name__})
    recording: bool = False

    @property
    def files(self) -> list[str]:
        return sorted({file for file, _ in self.functions})

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch this thread, and those that are started in the block."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if not self.recording or event != "call":
            return
        code = frame.f_code
        if code.co_filename.startswith(str(PACKAGE)):
            self.functions.add((str(Path(code.co_filename).relative_to(PACKAGE)), code.co_qualname))
        if code.co_name == "__init__":  # of a dataclass, its file is none
            kind = type(frame.f_locals[code.co_varnames[0]])
            if kind.__module__.startswith(RECORDS) and not kind.__name__.startswith("_"):
                self.records.add(kind.__name__)


async def request_path(service: SpeechService) -> RequestPath:
    """The path of one streamed `POST /v1/audio/speech` in process; one goes before, so that nothing is done first."""
    path = RequestPath()
    with path.watched():
        async with called(service) as client:
            for path.recording in (False, True):
                (await client.post("/v1/audio/speech", json=SPEECH)).raise_for_status()
            path.recording = False
    return path


if __name__ == "__main__":
    found = asyncio.run(request_path(tone_service(PlainToneEngine())))
    print(*found.files, sep="\n")
    print("records:", *sorted(found.records))
    print(f"{len(found.files)} files, {len(found.functions)} functions, {len(found.records)} records")
