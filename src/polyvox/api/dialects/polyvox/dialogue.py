"""Dialogues: several voices in one answer."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from pydantic import ConfigDict, FailFast, Field

from polyvox.api.body_format import AudioFile, AudioStream
from polyvox.api.dependencies import DownloadStore, Owner, Service, Voices
from polyvox.api.dialects.openai.door import SPEECH_ERRORS
from polyvox.api.door import Door
from polyvox.api.requests.audio_body import AUDIO_FIELD_NAMES, CaptionFields
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import Number, RequestBody, Text
from polyvox.api.requests.speech_body import DownloadFields, VoiceName, VoiceReference
from polyvox.api.responses.captions import caption_types, captions_response, check_captions_beside_events
from polyvox.api.responses.downloads import CaptionSidecar, RecordedAudio
from polyvox.api.responses.error_body import ErrorBody
from polyvox.api.responses.events import SpeechEvents
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.audio.encode import AudioFormat
from polyvox.service.keys.operations import Operation
from polyvox.service.kinds.dialogue import dialogue_model, resolve_dialogue
from polyvox.service.kinds.dialogue_segments import DialogueTurn, turn_starts
from polyvox.service.words.caption_track import MAX_SPEAKER_NAME_CHARS, DialogueCaptionTrack, speaker_names
from polyvox.types import AudioChunk

router = APIRouter(prefix="/v1", route_class=JsonRoute, tags=["speech"])

_NAME = "dialogue"
DIALOGUE_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The audio, events that carry it, or captions.",
        "content": {audio.media_type: {} for audio in AudioFormat} | {"text/event-stream": {}} | caption_types(),
    },
    403: {"model": ErrorBody, "description": "Captions beside the audio, on a server without download links."},
}


class TurnBody(RequestBody):
    """One turn of a dialogue."""

    voice: VoiceName = Field(description="As in `/v1/audio/speech`.")
    text: Text = Field(description="What it says.")
    prompt_text: Text | None = Field(
        None, description="Transcript of the recording that `voice` names or carries; once for each voice is enough."
    )
    speaker: Text = Field(
        "", max_length=MAX_SPEAKER_NAME_CHARS, description="Who speaks, for captions; the voice's name if absent."
    )

    @property
    def turn(self) -> DialogueTurn:
        voice = self.voice.id if isinstance(self.voice, VoiceReference) else self.voice
        return DialogueTurn(voice, self.text, self.prompt_text)


class DialogueBody(CaptionFields, DownloadFields):
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

    @property
    def dialogue_turns(self) -> list[DialogueTurn]:
        """The turns as the service takes them."""
        return [turn.turn for turn in self.turns]

    @property
    def speakers(self) -> list[str]:
        """The speaker of each turn, for captions."""
        named = speaker_names([turn.turn for turn in self.turns])
        return [turn.speaker or name for turn, name in zip(self.turns, named, strict=True)]


@router.post("/audio/dialogue", response_class=Response, responses=DIALOGUE_ANSWER | SPEECH_ERRORS)
async def create_dialogue(
    body: DialogueBody,
    service: Service,
    voices: Voices,
    owner: Owner,
    downloads: DownloadStore,
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
    after the other. Where you name no model and a voice is cloned, one that clones speaks all of them. The audio
    streams while it is made, unless `stream` is false.
    """
    body.check_places()
    captions_only, captions = body.captions_only, body.captions
    body = body.without_captions()
    turns, request = body.dialogue_turns, body.request_for("", _NAME, _NAME)
    language = request.utterance.language
    model = await dialogue_model(
        turns, voices.resolver, service.settings, owner=owner, model=body.model, language=language
    )
    resolve_kind = partial(
        resolve_dialogue,
        turns,
        body.pause,
        voices.resolver,
        service.settings,
        owner=owner,
        model=model,
        speed=body.speed,
    )
    request = replace(request, model=model, resolve_kind=resolve_kind)
    track = DialogueCaptionTrack(turns, body.speakers, body.sounds)
    if captions_only is not None:
        return captions_response(service, request, captions_only, track)
    if body.stream_format == "sse":
        check_captions_beside_events(captions)
        events = _events(body, turns, chunks=x_polyvox_chunks == "1" or body.wants_times)
        return SpeechResponse(service, replace(request, words=events.chunks), events)
    audio: AudioStream | AudioFile | RecordedAudio
    audio = AudioStream(body.audio_format) if body.stream else AudioFile(body.audio_format)
    if body.return_download_link:
        request = replace(request, words=body.return_timing)
        audio = RecordedAudio.begun(audio, body.return_timing, downloads, owner)
    if captions is not None:
        request = replace(request, words=True)
        audio = RecordedAudio.captioned(audio, CaptionSidecar.begun(captions, track, downloads, owner))
    headers = audio.headers if isinstance(audio, RecordedAudio) else {}
    return SpeechResponse(service, request, audio, headers=headers)


def _events(body: DialogueBody, turns: Sequence[DialogueTurn], *, chunks: bool) -> SpeechEvents:
    chunk_extra = partial(_turns_of, starts=turn_starts(turns))
    return SpeechEvents(
        body.audio_format,
        sum(len(turn.text) for turn in turns),
        chunks=chunks,
        chunk_extra=chunk_extra,
        sounds=body.sounds,
    )


def _turns_of(chunk: AudioChunk, starts: Sequence[int]) -> dict[str, list[int]]:
    """The turns that a chunk is of; none if it is the silence between two."""
    if not chunk.span:
        return {"turns": []}
    first, last = (bisect_right(starts, offset) - 1 for offset in (chunk.span.start, chunk.span.end - 1))
    return {"turns": list(range(first, last + 1))}


DOOR = Door(
    _NAME,
    router,
    field_names={"/v1/audio/dialogue": AUDIO_FIELD_NAMES},
    operations={
        "POST /v1/audio/dialogue": Operation.SPEAK,
    },
)
