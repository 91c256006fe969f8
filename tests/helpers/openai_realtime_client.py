"""A client of OpenAI's Realtime API over Starlette's test client."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient, WebSocketTestSession

from polyvox.api.app import create_app
from polyvox.service.speech import SpeechService

SOCKET = "/v1/realtime"
BETA = {"OpenAI-Beta": "realtime=v1"}


class RealtimeClient:
    """One socket: sends client events, and reads server events."""

    def __init__(self, socket: WebSocketTestSession) -> None:
        self.socket = socket

    def send(self, name: str, **fields: object) -> None:
        self.socket.send_json({"type": name, **fields})

    def next(self) -> dict[str, Any]:
        event: dict[str, Any] = self.socket.receive_json()
        assert event["event_id"].startswith("event_")
        return event

    def until(self, name: str, **expected: object) -> list[dict[str, Any]]:
        """The events up to the one of this name, and with these fields."""
        events = [self.next()]
        while events[-1]["type"] != name or any(events[-1].get(key) != value for key, value in expected.items()):
            events.append(self.next())
        return events

    def ask(self, name: str, **fields: object) -> dict[str, Any]:
        """The next event after a client event."""
        self.send(name, **fields)
        return self.next()

    def refused(self, name: str, **fields: object) -> dict[str, Any]:
        """The error that a client event is answered with; it names the event."""
        event = self.ask(name, event_id="mine", **fields)
        assert event["type"] == "error", event
        error: dict[str, Any] = event["error"]
        assert set(error) == {"type", "code", "message", "param", "event_id"}
        assert error["event_id"] == "mine"
        assert error["message"].endswith(".")
        return error

    def update(self, **session: object) -> dict[str, Any]:
        event = self.ask("session.update", session=session)
        assert event["type"] == "session.updated", event
        updated: dict[str, Any] = event["session"]
        return updated

    def say(self, text: str) -> dict[str, Any]:
        """Add a user's message to the conversation; the item."""
        added = self.ask("conversation.item.create", item=message(text))
        assert added["type"] == "conversation.item.added", added
        assert self.next()["type"] == "conversation.item.done"
        item: dict[str, Any] = added["item"]
        return item

    def speak(self, **response: object) -> list[dict[str, Any]]:
        """All events of one response."""
        self.send("response.create", response=response)
        return self.until("response.done")


@contextmanager
def connected(app: TestClient, query: str = "", **options: Any) -> Iterator[RealtimeClient]:
    """A socket whose session has begun."""
    with app.websocket_connect(SOCKET + query, **options) as socket:
        client = RealtimeClient(socket)
        assert client.next()["type"] == "session.created"
        yield client


def realtime_app(service: SpeechService, **options: Any) -> TestClient:
    """A client of the app; it starts and closes the service where it is used as a context."""
    return TestClient(create_app(service, **options))


def message(text: str, role: str = "user") -> dict[str, Any]:
    """A message of text."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def names(events: list[dict[str, Any]]) -> list[str]:
    """The types of some events, repetitions of one after another left out."""
    kinds = [event["type"] for event in events]
    return [kind for index, kind in enumerate(kinds) if not index or kinds[index - 1] != kind]


def audio(events: list[dict[str, Any]], kind: str = "response.output_audio.delta") -> bytes:
    """The sound of some events."""
    return b"".join(base64.b64decode(event["delta"]) for event in events if event["type"] == kind)


def transcript(events: list[dict[str, Any]], kind: str = "response.output_audio_transcript.delta") -> str:
    """The words of some events."""
    return "".join(event["delta"] for event in events if event["type"] == kind)
