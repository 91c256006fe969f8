"""Transcripts in the formats that OpenAI's clients read."""

import zlib
from collections.abc import Callable, Collection
from enum import StrEnum
from functools import partial
from typing import Any

from polyvox.api.responses.transcripts import TranscriptBody, json_body
from polyvox.service.listening.transcript import Segment, Transcript
from polyvox.text.captions import CaptionFormat, captions, cues
from polyvox.voices.recognition.languages import LANGUAGES

_PLAIN = "text/plain; charset=utf-8"
_SEEK_RATE = 100  # OpenAI counts the place of a window in hundredths of a second


class TranscriptFormat(StrEnum):
    """The formats of transcripts."""

    JSON = "json"
    TEXT = "text"
    SRT = "srt"
    VERBOSE_JSON = "verbose_json"
    VTT = "vtt"

    @property
    def is_timed(self) -> bool:
        """True if it says when words are spoken."""
        return self not in (TranscriptFormat.JSON, TranscriptFormat.TEXT)


FORMATS = tuple(each.value for each in TranscriptFormat)


def written(
    form: TranscriptFormat, task: str, granularities: Collection[str]
) -> Callable[[Transcript], TranscriptBody]:
    """The writer of a format; `task` and `granularities` matter to `verbose_json`."""
    return partial(_written, form=form, task=task, granularities=granularities)


def usage(transcript: Transcript) -> dict[str, Any]:
    """The use that OpenAI reports for a recording."""
    return {"type": "duration", "seconds": round(transcript.seconds, 2)}


def _written(
    transcript: Transcript, form: TranscriptFormat, task: str, granularities: Collection[str]
) -> TranscriptBody:
    match form:
        case TranscriptFormat.TEXT:
            return TranscriptBody(transcript.text + "\n", _PLAIN)
        case TranscriptFormat.SRT | TranscriptFormat.VTT:
            shown = cues(transcript.words, text=transcript.text)
            return TranscriptBody(captions(shown, CaptionFormat(form.value)), _PLAIN)
        case TranscriptFormat.VERBOSE_JSON:
            return json_body(_verbose(transcript, task, granularities))
    return json_body({"text": transcript.text, "usage": usage(transcript)})


def _verbose(transcript: Transcript, task: str, granularities: Collection[str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "task": task,
        "language": LANGUAGES[transcript.language].name,
        "duration": round(transcript.seconds, 2),
        "text": transcript.text,
    }
    if "word" in granularities:
        found["words"] = [
            {"word": word.word, "start": round(word.start, 2), "end": round(word.end, 2)} for word in transcript.words
        ]
    if "segment" in granularities:
        found["segments"] = [_segment(number, each) for number, each in enumerate(transcript.segments)]
    return found | {"usage": usage(transcript)}


def _segment(number: int, segment: Segment) -> dict[str, Any]:
    """A sentence. What is known of its passage alone, as the probabilities, is the passage's."""
    passage = segment.passage
    text = segment.text.encode()
    return {
        "id": number,
        "seek": round(passage.start * _SEEK_RATE),
        "start": round(segment.start, 2),
        "end": round(segment.end, 2),
        "text": f" {segment.text}",
        "tokens": list(passage.recognition.tokens) if segment.text == passage.text else [],
        "temperature": passage.recognition.temperature,
        "avg_logprob": round(passage.recognition.log_prob, 4),
        "compression_ratio": round(len(text) / len(zlib.compress(text)), 4),
        "no_speech_prob": round(passage.silence, 4),
    }
