"""Kokoro-FastAPI's paths for development: dialogues, speech from phonemes, times without audio, a test."""

import re
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Response
from pydantic import Field, model_validator

from polyvox.api.body_format import attachment, audio_body
from polyvox.api.dependencies import DownloadStore, Owner, Service, Voices
from polyvox.api.dialects.kokoro_fastapi.bodies import CaptionedBody, PhonemeSpeechBody
from polyvox.api.dialects.openai.door import SPEECH_ERRORS
from polyvox.api.dialects.polyvox.dialogue import DIALOGUE_ANSWER, DialogueBody, create_dialogue
from polyvox.api.requests.body import JsonRoute
from polyvox.api.requests.fields import Number
from polyvox.api.requests.speech_body import AliasFields, SpeechBody
from polyvox.api.requests.speech_requests import speech_request
from polyvox.api.responses.caption_bodies import Timestamps
from polyvox.api.responses.captions import TimestampsFile
from polyvox.api.responses.streaming import SpeechResponse
from polyvox.errors import InvalidRequestError
from polyvox.service.kinds.dialogue_segments import DialogueTurn
from polyvox.service.kinds.script_reader import check_voice_tags
from polyvox.text.markup.markup import MAX_PHONEME_CHARS

router = APIRouter(route_class=JsonRoute, tags=["Kokoro-FastAPI"])

_NAME = "kokoro"
_AUDIO: dict[int | str, dict[str, Any]] = {200: {"description": "The audio.", "content": {"audio/wav": {}}}}
_UNWRITABLE = re.compile(r"[/()\[\]]+")
_EDGES = re.compile(r"([.,;:!?…—\"“”¿¡«»]*)(.*?)([.,;:!?…—\"“”«»]*)", re.DOTALL)


class KokoroDialogueBody(DialogueBody, AliasFields):
    """A dialogue, by Kokoro-FastAPI's names; `inputs` and `voice_id` are `turns` and their `voice`."""

    pause_between_turns: Number | None = Field(
        None, ge=0.0, le=60.0, description="Silence between turns in seconds, 0 if absent; in place of `pause`."
    )

    @model_validator(mode="before")
    @classmethod
    def _take_elevenlabs_names(cls, body: object) -> object:
        if not isinstance(body, dict):
            return body
        turns = body.get("turns", body.get("inputs"))
        return {**body, "turns": list(map(_renamed_voice, turns)) if isinstance(turns, list) else turns}

    @property
    def dialogue_turns(self) -> list[DialogueTurn]:
        aliases = self.aliases
        turns = ((turn, aliases.find(turn.voice)) for turn in super().dialogue_turns)
        return [turn if alias is None else replace(turn, voice=alias.voice, rate=alias.rate) for turn, alias in turns]


def _renamed_voice(turn: object) -> object:
    if isinstance(turn, dict) and "voice_id" in turn and "voice" not in turn:
        return {**turn, "voice": turn["voice_id"]}
    return turn


@router.post("/dev/dialogue", response_class=Response, responses=DIALOGUE_ANSWER | SPEECH_ERRORS)
async def dialogue(
    body: KokoroDialogueBody, service: Service, voices: Voices, owner: Owner, downloads: DownloadStore
) -> SpeechResponse:
    """Speak a dialogue, as `/v1/audio/dialogue` does; the switch for voice tags is this path's too, as there."""
    check_voice_tags(service.settings)
    pause = (body.pause or 0.0) if body.pause_between_turns is None else body.pause_between_turns
    return await create_dialogue(body.model_copy(update={"pause": pause}), service, voices, owner, downloads)


@router.post("/dev/generate_from_phonemes", response_class=Response, responses=_AUDIO | SPEECH_ERRORS)
async def generate_from_phonemes(
    body: PhonemeSpeechBody, service: Service, voices: Voices, owner: Owner
) -> SpeechResponse:
    """Speak phonemes, such as `/dev/phonemize` shows."""
    known = service.registry.model(body.model).capabilities
    if known is not None and not (known.phonemes and known.reads_markup):
        raise InvalidRequestError("This model does not work with phonemes; name one that does.", field="model")
    same = body.model_dump(include={"voice", "speed", "response_format"})
    model = service.registry.resolve(body.model)  # named: no other one may speak, which would read no phonemes
    asked = SpeechBody.model_validate({"input": marked_phonemes(body.phonemes), "model": model, **same})
    body_format = audio_body(asked.audio_format, stream=False)
    request = await speech_request(asked, _NAME, service, voices, owner)
    return SpeechResponse(service, request, body_format, headers=attachment(body_format, asked.audio_format))


def marked_phonemes(phonemes: str) -> str:
    """Phonemes as a text of inline phonemes, word by word; marks of punctuation stay between them."""
    words: list[str] = []
    for word in phonemes.split():
        found = _EDGES.fullmatch(word)
        assert found is not None
        before, sounds, behind = found.groups()
        sounds = _UNWRITABLE.sub("", sounds)
        parts = [sounds[at : at + MAX_PHONEME_CHARS] for at in range(0, len(sounds), MAX_PHONEME_CHARS)]
        words.append(before + "".join(f"[{part}](/{part}/)" for part in parts) + behind)
    return " ".join(words)


@router.post(
    "/dev/timestamp",
    response_class=Response,
    responses=SPEECH_ERRORS | {200: {"model": Timestamps, "description": "The words, without the audio."}},
)
async def timestamp(body: CaptionedBody, service: Service, voices: Voices, owner: Owner) -> SpeechResponse:
    """The start and end of each word of a text, without the audio; the same request gives the same times as speech."""
    request = await speech_request(body, _NAME, service, voices, owner)
    return SpeechResponse(service, replace(request, words=True), TimestampsFile(body.voiced, body.sounds))


@router.get("/v1/test")
async def test() -> dict[str, str]:
    """Return whether the server answers."""
    return {"status": "ok"}
