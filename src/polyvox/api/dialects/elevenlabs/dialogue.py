"""ElevenLabs' text-to-dialogue over HTTP: several voices in one answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import FailFast, Field

from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.elevenlabs.alignment import Alignment
from polyvox.api.dialects.elevenlabs.requests import NAME, GenerationFields, speech_body
from polyvox.api.dialects.elevenlabs.speech import AUDIO, MAX_VOICE_CHARS, TIMESTAMPS, Output, Speech, plain_audio
from polyvox.api.dialects.elevenlabs.timestamps import TimestampedFile, TimestampedStream
from polyvox.api.dialects.elevenlabs.voices import VoiceDirectory
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import RequestBody, Text
from polyvox.api.responses.plain_audio import PlainAudio
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.service.kinds.dialogue import dialogue_model, resolve_dialogue
from polyvox.service.kinds.dialogue_segments import TURN_SEPARATOR, DialogueTurn, turn_starts

router = APIRouter(prefix="/v1/text-to-dialogue", route_class=JsonRoute, tags=["ElevenLabs"])


class DialogueInput(RequestBody):
    """The words of one voice."""

    text: Text = Field(description="What it says.")
    voice_id: str = Field(max_length=MAX_VOICE_CHARS, description="A voice of `/v1/voices`, by id or name.")


class TextToDialogueBody(GenerationFields):
    """A dialogue to speak."""

    inputs: Annotated[list[DialogueInput], FailFast()] = Field(description="The turns in order.")


@dataclass(frozen=True, slots=True)
class VoiceSegments:
    """Adds to an object of characters which of them each turn has, and when it is spoken."""

    voice_ids: Sequence[str]
    starts: Sequence[int]
    """Start of each turn in the text of the dialogue."""

    def __call__(self, alignment: Alignment, first: int) -> Mapping[str, Any]:
        bounds = [*(start - first for start in self.starts), first + len(alignment.characters) + 1]
        size = len(alignment.characters)
        found = []
        for index, (start, end) in enumerate(pairwise(bounds)):
            begin, stop = max(start, 0), min(end, size)
            if begin < stop:
                found.append(self._segment(index, begin, stop, alignment))
        return {"voice_segments": found}

    def _segment(self, index: int, begin: int, stop: int, alignment: Alignment) -> dict[str, Any]:
        return {
            "voice_id": self.voice_ids[index],
            "start_time_seconds": round(alignment.starts[begin], 3),
            "end_time_seconds": round(alignment.ends[stop - 1], 3),
            "character_start_index": begin,
            "character_end_index": stop,
            "dialogue_input_index": index,
        }


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue that can be spoken, and which characters of its text each turn has."""

    speech: Speech
    segments: VoiceSegments


async def _dialogue(
    body: TextToDialogueBody, output: Output, service: Service, voices: Voices, owner: Owner
) -> Dialogue:
    directory = VoiceDirectory.of(service, voices, owner, body.model_id)
    targets = {voice_id: await directory.target(voice_id) for voice_id in {each.voice_id for each in body.inputs}}
    default = service.registry.default_voice(directory.model)
    turns = [DialogueTurn(targets[each.voice_id] or default, each.text) for each in body.inputs]
    model = await dialogue_model(
        turns, voices.resolver, service.settings, owner=owner, model=directory.model, language=body.language_code
    )
    resolve_kind = partial(
        resolve_dialogue,
        turns,
        None,
        voices.resolver,
        service.settings,
        owner=owner,
        model=model,
        speed=1.0,
    )
    first = turns[0].voice if turns else ""
    asked = speech_body(body, "", first, None, output, service.registry, model)
    request = replace(asked.request_for("", NAME, NAME), resolve_kind=resolve_kind)
    text = TURN_SEPARATOR.join(turn.text for turn in turns)
    speech = Speech(request, text, replace(directory, model=model).late_words)
    return Dialogue(speech, VoiceSegments([each.voice_id for each in body.inputs], turn_starts(turns)))


Asked = Annotated[Dialogue, Depends(_dialogue)]


@router.post("", response_class=Response, responses=AUDIO)
async def convert(asked: Asked, output: Output, service: Service) -> SpeechResponse:
    """Speak a dialogue. The audio streams while it is made; a WAV file is sent when its length is known."""
    return SpeechResponse(service, asked.speech.request, plain_audio(output))


@router.post("/stream", response_class=Response, responses=AUDIO)
async def stream(asked: Asked, output: Output, service: Service) -> SpeechResponse:
    """Speak a dialogue; the audio streams while it is made."""
    return SpeechResponse(service, asked.speech.request, PlainAudio(output))


@router.post("/with-timestamps", response_class=Response, responses=TIMESTAMPS)
async def convert_with_timestamps(asked: Asked, output: Output, service: Service) -> SpeechResponse:
    """Speak a dialogue, with the times of its characters and of its turns, as one JSON object."""
    speech = asked.speech
    body = TimestampedFile(output, speech.text, speech.late_words, asked.segments)
    return SpeechResponse(service, speech.timed, body)


@router.post("/stream/with-timestamps", response_class=Response, responses=TIMESTAMPS)
async def stream_with_timestamps(asked: Asked, output: Output, service: Service) -> SpeechResponse:
    """Speak a dialogue, with the times of its characters and of its turns, as one JSON object a line."""
    speech = asked.speech
    body = TimestampedStream(output, speech.text, speech.late_words, asked.segments)
    return SpeechResponse(service, speech.timed, body)
