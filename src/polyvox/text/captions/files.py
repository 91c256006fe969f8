"""Files of captions: SRT, WebVTT, WebVTT with the time of each word, and JSON."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from polyvox.text.captions.cues import Cue, speaker_label
from polyvox.types import PhonemeTiming, WordTiming


class CaptionFormat(StrEnum):
    """The formats; `word_vtt` is WebVTT in which each word lights up when it is spoken."""

    SRT = "srt"
    VTT = "vtt"
    WORD_VTT = "word_vtt"
    JSON = "json"


CAPTION_MEDIA_TYPES: Final[Mapping[CaptionFormat, str]] = MappingProxyType(
    {
        CaptionFormat.SRT: "application/x-subrip",
        CaptionFormat.VTT: "text/vtt",
        CaptionFormat.WORD_VTT: "text/vtt",
        CaptionFormat.JSON: "application/json",
    }
)
CAPTION_SUFFIXES: Final[Mapping[CaptionFormat, str]] = MappingProxyType(
    {CaptionFormat.SRT: "srt", CaptionFormat.VTT: "vtt", CaptionFormat.WORD_VTT: "vtt", CaptionFormat.JSON: "json"}
)
_WORD_JOINER: Final = "\u2060"
# What players of SRT take for markup or for times, though the caller means it: a joiner that nobody sees parts it.
_SRT_MARKUP: Final = re.compile(r"(?<=<)(?=[/A-Za-z])|(?<=--)(?=>)|(?<=\{)(?=\\)")


def captions(cues: Sequence[Cue], format: CaptionFormat) -> str:  # noqa: A002 - the name that callers know
    """One whole file."""
    return _WRITERS[format](cues)


def _srt(cues: Sequence[Cue]) -> str:
    blocks = (
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{_SRT_MARKUP.sub(_WORD_JOINER, text)}\n"
        for number, (cue, text) in enumerate(_labelled(cues), 1)
    )
    return "\n".join(blocks)


def _labelled(cues: Sequence[Cue]) -> Iterator[tuple[Cue, str]]:
    """The cues and their texts, with the speaker's name before the first of a turn."""
    speaker = ""
    for cue in cues:
        yield cue, (speaker_label(cue.speaker) if cue.speaker != speaker else "") + cue.text
        speaker = cue.speaker


def _vtt(cues: Sequence[Cue]) -> str:
    return _vtt_file((cue, _escaped(cue.text)) for cue in cues)


def _word_vtt(cues: Sequence[Cue]) -> str:
    return _vtt_file((cue, _with_times(cue)) for cue in cues)


def _vtt_file(cues: Iterator[tuple[Cue, str]]) -> str:
    blocks = (f"\n{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{_voice(cue)}{text}\n" for cue, text in cues)
    return "".join(("WEBVTT\n", *blocks))


def _voice(cue: Cue) -> str:
    name = " ".join(cue.speaker.split())
    return f"<v {_escaped(name)}>" if name else ""


def _with_times(cue: Cue) -> str:
    """The text with a time before each word that begins after the one before it and before the cue's end."""
    parts: list[str] = []
    done, last = 0, round(cue.start * 1000)
    for offset, word in zip(cue.offsets, cue.words, strict=bool(cue.offsets)):
        at = round(word.start * 1000)
        if last < at < round(cue.end * 1000):
            parts += (_escaped(cue.text[done:offset]), f"<{_clock(word.start, '.')}>")
            done, last = offset, at
    return "".join((*parts, _escaped(cue.text[done:])))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def json_captions(
    cues: Sequence[Cue], *, phonemes: bool = False, more: Mapping[str, object] = MappingProxyType({})
) -> str:
    """A file as JSON; with `phonemes` each word has its own, and `more` are fields beside the cues."""
    return json.dumps({"cues": [_fields(cue, phonemes) for cue in cues], **more}, ensure_ascii=False)


def _fields(cue: Cue, phonemes: bool) -> dict[str, object]:
    words = [
        {
            "word": word.word,
            **_times(word),
            "span": [word.span.start, word.span.end],
            **({"phonemes": [{"phoneme": each.phoneme, **_times(each)} for each in word.phonemes]} if phonemes else {}),
        }
        for word in cue.words
    ]
    return {"start": cue.start, "end": cue.end, "speaker": cue.speaker, "text": cue.text, "words": words}


def _times(timing: WordTiming | PhonemeTiming) -> dict[str, float]:
    return {"start": round(timing.start, 3), "end": round(timing.end, 3)}


def _clock(seconds: float, point: str) -> str:
    minutes, milliseconds = divmod(round(seconds * 1000), 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds_part, milliseconds = divmod(milliseconds, 1000)
    return f"{hours:02}:{minutes:02}:{seconds_part:02}{point}{milliseconds:03}"


_WRITERS: Final[Mapping[CaptionFormat, Callable[[Sequence[Cue]], str]]] = MappingProxyType(
    {
        CaptionFormat.SRT: _srt,
        CaptionFormat.VTT: _vtt,
        CaptionFormat.WORD_VTT: _word_vtt,
        CaptionFormat.JSON: json_captions,
    }
)
