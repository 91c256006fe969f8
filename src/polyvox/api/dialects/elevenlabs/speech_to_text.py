"""ElevenLabs' speech to text: a recording in, its words and their times out."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from polyvox.api.dependencies import Service
from polyvox.api.dialects.elevenlabs.requests import NAME
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.fields import Boolean, Integer, Number, RequestBody
from polyvox.api.requests.forms import json_or_form, read_fields
from polyvox.api.responses.transcripts import TranscriptBody, TranscriptResponse, json_body
from polyvox.audio.encode import wav_header
from polyvox.errors import InvalidRequestError
from polyvox.service.listening.listening_request import ListeningRequest
from polyvox.service.listening.transcript import Passage, Transcript, gap_before
from polyvox.voices.recognition.languages import LANGUAGES, language_named, writes_traditional
from polyvox.voices.recognition.recogniser import RecognitionTask

router = APIRouter(prefix="/v1/speech-to-text", tags=["ElevenLabs"], dependencies=[Depends(refuse_foreign_pages)])

_FILE = "file"
_RAW_RATE = 16_000
_MAX_TERMS = 1_000
_MAX_TERM_CHARS = 50
_REFUSED = {
    "cloud_storage_url": "This server fetches no recordings; send the recording as 'file'.",
    "source_url": "This server fetches no recordings; send the recording as 'file'.",
    "diarize": "No model here tells speakers apart; leave out 'diarize'.",
    "use_multi_channel": "Channels are not transcribed one by one here; send a recording for each.",
    "webhook": "This server answers at once, and calls no webhook for it.",
    "additional_formats": "No further formats are written here; /v1/audio/transcriptions has srt and vtt.",
    "entity_detection": "No entities are detected here.",
    "entity_redaction": "Nothing is redacted here.",
    "no_verbatim": "All words are written down here.",
}


class SpeechToTextBody(RequestBody):
    """The wishes for a transcript."""

    model_id: str | None = Field(None, max_length=200, description="`scribe_v1`, or one of this server's.")
    language_code: str | None = Field(None, max_length=40, description="ISO 639-1 or 639-3; detected if absent.")
    timestamps_granularity: Literal["none", "word"] = Field("word", description="`word`: with the time of each word.")
    file_format: Literal["other", "pcm_s16le_16"] = Field("other", description="`pcm_s16le_16`: bare samples, 16 kHz.")
    temperature: Number = Field(0.0, ge=0, le=2, description="0: always the likeliest words.")
    tag_audio_events: Boolean = Field(False, description="Sounds beside words are not tagged here.")
    seed: Integer | None = Field(None, description="Not needed: the same recording has the same transcript.")
    keyterms: list[str] = Field([], max_length=_MAX_TERMS, description="Words that may be said.")
    cloud_storage_url: str | None = None
    source_url: str | None = None
    diarize: Boolean = False
    use_multi_channel: Boolean = False
    webhook: Boolean = False
    additional_formats: object = None
    entity_detection: object = None
    entity_redaction: object = None
    no_verbatim: Boolean = False

    def checked(self) -> None:
        """Refuse wishes that nothing here obeys."""
        for name, sentence in _REFUSED.items():
            if getattr(self, name):
                raise InvalidRequestError(sentence, field=name)
        if any(len(term) > _MAX_TERM_CHARS for term in self.keyterms):
            raise InvalidRequestError(f"A term of 'keyterms' has over {_MAX_TERM_CHARS} characters.", field="keyterms")

    @property
    def task(self) -> RecognitionTask:
        return RecognitionTask(
            language=None if self.language_code is None else language_named(self.language_code, "language_code"),
            traditional=writes_traditional(self.language_code),
            prompt=", ".join(self.keyterms),
            temperature=self.temperature,
            words=self.timestamps_granularity == "word",
        )


_FORM = json_or_form(SpeechToTextBody, _FILE)
_FORM["requestBody"]["content"].pop("application/json")


@router.post("", response_class=Response, openapi_extra=_FORM)
async def convert_speech_to_text(request: Request, service: Service) -> Response:
    """Write down what is said in a recording. The body is a form with the recording as its `file`."""
    fields = await read_fields(request, _FILE)
    body = fields.parsed(SpeechToTextBody)
    body.checked()
    recording = fields.file
    if recording is None:
        raise InvalidRequestError("'file' is required: send the recording as a file in a form.", field=_FILE)
    if body.file_format == "pcm_s16le_16":
        recording = wav_header(_RAW_RATE, 1, len(recording)) + recording
    warnings = ["Sounds beside words are not tagged."] if body.tag_audio_events else []
    asked = ListeningRequest(recording, body.task, body.model_id, NAME)
    return TranscriptResponse(service, asked, partial(_written, timed=body.task.words), warnings)


def _written(transcript: Transcript, *, timed: bool) -> TranscriptBody:
    words = [word for passage in transcript.passages for word in _words(passage)] if timed else []
    likelihoods = [passage.recognition.language_probability for passage in transcript.passages]
    return json_body(
        {
            "language_code": LANGUAGES[transcript.language].alpha3,
            "language_probability": round(likelihoods[0], 4) if likelihoods else 0.0,
            "text": transcript.text,
            "words": words[1:] if words and words[0]["type"] == "spacing" else words,
        }
    )


def _words(passage: Passage) -> Iterator[dict[str, Any]]:
    """The words of a passage and the spaces between them, each with the passage's mean log probability."""
    end = passage.start
    log_prob = round(passage.recognition.log_prob, 4)
    for index, word in enumerate(passage.words):
        before = passage.text[passage.words[index - 1].span.end : word.span.start] if index else gap_before(passage)
        if before:
            yield _word(before, end, word.start, "spacing", log_prob)
        yield _word(word.word, word.start, word.end, "word", log_prob)
        end = word.end


def _word(text: str, start: float, end: float, kind: str, log_prob: float) -> dict[str, Any]:
    return {"text": text, "start": round(start, 3), "end": round(end, 3), "type": kind, "logprob": log_prob}
