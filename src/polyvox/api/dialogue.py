"""Dialogues: several voices in one answer."""

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from pydantic import ConfigDict, FailFast, Field

from polyvox.api.body import JsonRoute
from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.door import Door
from polyvox.api.events import SpeechEvents
from polyvox.api.openai import SPEECH_ERRORS
from polyvox.api.schemas import AUDIO_FIELD_NAMES, AudioBody, Number, RequestBody, Text, VoiceName, VoiceReference
from polyvox.api.streaming import BodyFormat, SpeechResponse, audio_body
from polyvox.audio.encode import AudioFormat
from polyvox.service.dialogue import resolve_dialogue
from polyvox.service.dialogue_segments import DialogueTurn, turn_starts
from polyvox.service.request_kind import RequestKind
from polyvox.service.speech import SpeechRequest
from polyvox.types import AudioChunk

router = APIRouter(prefix="/v1", route_class=JsonRoute, tags=["speech"])

_NAME = "dialogue"
_DIALOGUE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The audio, or events that carry it.",
        "content": {audio.media_type: {} for audio in AudioFormat} | {"text/event-stream": {}},
    }
}


class TurnBody(RequestBody):
    """One turn of a dialogue."""

    voice: VoiceName = Field(description="As in `/v1/audio/speech`.")
    text: Text = Field(description="What it says.")
    prompt_text: Text | None = Field(
        None, description="Transcript of the recording that `voice` names or carries; once for each voice is enough."
    )

    @property
    def turn(self) -> DialogueTurn:
        voice = self.voice.id if isinstance(self.voice, VoiceReference) else self.voice
        return DialogueTurn(voice, self.text, self.prompt_text)


class DialogueBody(AudioBody):
    """A dialogue, and how it is to be spoken and sent."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "kokoro",
                    "turns": [
                        {"voice": "af_heart", "text": "Is the tide out?"},
                        {"voice": "am_michael", "text": "It is, and the boats lie on the sand."},
                    ],
                    "pause": 0.4,
                }
            ]
        }
    )

    turns: Annotated[list[TurnBody], FailFast()] = Field(description="The turns in order.")
    pause: Number | None = Field(
        None,
        ge=0.0,
        le=10.0,
        description="Silence between turns in seconds; if absent 0.3, or what a dialogue model chooses.",
    )

    def dialogue_request(self, resolve_kind: Callable[[], Awaitable[RequestKind]]) -> SpeechRequest:
        """The same as a request of the service; what `resolve_kind` gives holds the turns."""
        request = self.request_for("", _NAME, _NAME)
        tuned = replace(request.utterance, tuning=self.tuning | self.flow_tuning)
        return replace(request, utterance=tuned, resolve_kind=resolve_kind)


@router.post("/audio/dialogue", response_class=Response, responses=_DIALOGUE | SPEECH_ERRORS)
async def create_dialogue(
    body: DialogueBody,
    service: Service,
    voices: Voices,
    owner: Owner,
    x_polyvox_chunks: Annotated[
        str,
        Header(
            description="1: with `stream_format` sse, each event also gives the position of its chunk; a whole answer "
            "gives those of all in the header of this name."
        ),
    ] = "0",
) -> SpeechResponse:
    """Speak a dialogue.

    A dialogue model speaks two voices together; with any other model, and with more voices, the turns are spoken one
    after the other. The audio streams while it is made, unless `stream` is false.
    """
    turns = [turn.turn for turn in body.turns]
    resolve_kind = partial(
        resolve_dialogue,
        turns,
        body.pause,
        voices.resolver,
        service.settings,
        owner=owner,
        model=body.model,
        speed=body.speed,
    )
    chunks = body.stream_format == "sse" and x_polyvox_chunks == "1"
    request = replace(body.dialogue_request(resolve_kind), words=chunks)
    return SpeechResponse(service, request, _body_format(body, turns, chunks=chunks))


def _body_format(body: DialogueBody, turns: Sequence[DialogueTurn], *, chunks: bool) -> BodyFormat:
    if body.stream_format == "sse":
        chunk_extra = partial(_turns_of, starts=turn_starts(turns))
        return SpeechEvents(
            body.audio_format, sum(len(turn.text) for turn in turns), chunks=chunks, chunk_extra=chunk_extra
        )
    return audio_body(body.audio_format, stream=body.stream)


def _turns_of(chunk: AudioChunk, starts: Sequence[int]) -> dict[str, list[int]]:
    """The turns that a chunk is of; none if it is the silence between two."""
    if not chunk.span:
        return {"turns": []}
    first, last = (bisect_right(starts, offset) - 1 for offset in (chunk.span.start, chunk.span.end - 1))
    return {"turns": list(range(first, last + 1))}


DOOR = Door(_NAME, router, field_names={"/v1/audio/dialogue": AUDIO_FIELD_NAMES})
