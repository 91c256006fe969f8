"""Who has opened a socket, and the requests that its messages become."""

from dataclasses import dataclass, replace

from polyvox.api.dialects.realtime.messages import Start
from polyvox.api.requests.speech_requests import speech_request
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voices import VoiceService

NAME = "realtime"
"""Of the door, in logs and metrics."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A client: whose voices it may use, whom its requests are counted for, and the id of its connection."""

    service: SpeechService
    voices: VoiceService
    owner: str
    client: str
    max_wait: float
    request_id: str | None = None

    async def request(self, start: Start) -> SpeechRequest:
        """What a `start` asks for, still without a text."""
        request = await speech_request(start.speech_body(), NAME, self.service, self.voices, self.owner)
        max_wait = self.max_wait if start.max_wait is None else min(start.max_wait, self.max_wait)
        return replace(
            request,
            kind=None,
            client=self.client,
            max_wait=max_wait,
            request_id=self.request_id,
            words=start.word_timings,
        )
