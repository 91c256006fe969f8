"""Dialect: the shapes of one version of OpenAI's Realtime API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from polyvox.api.dialects.openai_realtime.client_events import ResponseFields
from polyvox.api.dialects.openai_realtime.session_options import SessionChange, SessionOptions
from polyvox.api.dialects.openai_realtime.speech_options import SpeechOptions


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A `response.create`: how to speak, and what besides."""

    options: SpeechOptions
    fields: ResponseFields


class Dialect(Protocol):
    """The released version, or the beta before it, which old clients ask for."""

    spoken_type: str
    """Type of an item's content that was spoken."""

    def event_name(self, name: str) -> str | None:
        """This version's name of a server event of the released one; None where it has no such event."""

    def updated(self, options: SessionOptions, message: Mapping[str, Any]) -> SessionChange:
        """The options after a `session.update`."""

    def response_request(self, options: SpeechOptions, message: Mapping[str, Any]) -> ResponseRequest:
        """The request of a `response.create`; `options` are those of the session's speech."""

    def session_fields(self, options: SessionOptions) -> dict[str, Any]:
        """The session as server events show it."""

    def response_fields(self, options: SpeechOptions) -> dict[str, Any]:
        """The options of a response that server events show."""
