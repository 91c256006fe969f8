"""The client of a socket, and the requests that its messages become."""

from dataclasses import dataclass, replace

from polyvox.api.dialects.realtime.messages import Start
from polyvox.api.requests.speech_requests import speech_request
from polyvox.service.call_context import CallContext
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voices import VoiceService

NAME = "realtime"
"""Of the door, in logs and metrics."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A client, and the id of its connection."""

    service: SpeechService
    voices: VoiceService
    call: CallContext
    connection_id: str | None = None

    async def request(self, start: Start) -> SpeechRequest:
        """The request of a `start`, still without a text."""
        request = await speech_request(start.speech_body(), NAME, self.service, self.voices, self.call.owner)
        return replace(request, kind=None, words=start.word_timings or start.phoneme_timings)

    def call_for(self, start: Start) -> CallContext:
        """The call of a context, which may accept a shorter wait than its connection."""
        waits = [seconds for seconds in (start.max_wait, self.call.max_wait) if seconds is not None]
        return replace(self.call, max_wait=min(waits, default=None))
