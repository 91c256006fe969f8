"""Marks: what every answer says of itself, in tags of its container and in headers."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from polyvox import __version__

_FORM = re.compile(r"[0-9a-f]{32}", re.ASCII)


def is_content_id(text: str) -> bool:
    """True if the text has the form of an id, and so may become part of a path."""
    return _FORM.fullmatch(text) is not None


def derived_id(*parts: str) -> str:
    """The id of what is the same whenever it is made of the same parts."""
    digest = hashlib.sha256(b"polyvox content")
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


SOFTWARE = f"Polyvox {__version__}"
SYNTHETIC = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
"""IPTC's digital source type of media that a trained model has made."""

ORIGIN = f'synthetic=?1, source="{SYNTHETIC}", software="{SOFTWARE}"'
"""All that a connection can say of the speech it will carry, in the form of the header."""

SOURCE_TAG = "DIGITALSOURCETYPE"
SOFTWARE_TAG = "SOFTWARE"
MODEL_TAG = "MODEL"
ID_TAG = "CONTENT_ID"
_DAY = "%Y-%m-%d"
_SECOND = "%Y-%m-%dT%H:%M:%SZ"
_LONGEST = 200
_LONGEST_HEADER = 2_000
_JOINED = re.compile(r"([A-Z_]+)=([^;]*);", re.ASCII)
"""Marks in the comment of a container that has no tags for them, such as MP4."""
_MEMBER = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"', re.ASCII)


@dataclass(frozen=True, slots=True)
class Marks:
    """The origin of some speech: that it is synthetic, which software and model made it, when, and its content id.

    `made` is a day or a second, in UTC. By a day the same request gives the same file all day long.
    """

    content_id: str
    model: str
    made: str
    software: str = SOFTWARE
    source: str = SYNTHETIC

    @classmethod
    def of_day(cls, content_id: str, model: str, seconds: float) -> Self:
        """The marks of speech that was made at a time, in seconds since the epoch, told to the day."""
        return cls(content_id, model, datetime.fromtimestamp(seconds, UTC).strftime(_DAY))

    @classmethod
    def of_second(cls, content_id: str, model: str, seconds: float) -> Self:
        """The same, told to the second."""
        return cls(content_id, model, datetime.fromtimestamp(seconds, UTC).strftime(_SECOND))

    @property
    def sentence(self) -> str:
        """The marks in plain words, for people."""
        return "Synthetic speech, made by a computer."

    @property
    def tags(self) -> dict[str, str]:
        """The tags of a container. Names in lower case are FFmpeg's, which each container has its own fields for."""
        return {
            "comment": self.sentence,
            "date": self.made,
            SOURCE_TAG: self.source,
            SOFTWARE_TAG: self.software,
            MODEL_TAG: self.model,
            ID_TAG: self.content_id,
        }

    @property
    def header(self) -> str:
        """The marks as the value of a header: a dictionary of structured fields (RFC 9651)."""
        texts = {
            "source": self.source,
            "software": self.software,
            "model": self.model,
            "made": self.made,
            "id": self.content_id,
        }
        return ", ".join(["synthetic=?1", *(f'{name}="{_quoted(text)}"' for name, text in texts.items())])

    @classmethod
    def found_in(cls, tags: Mapping[str, str]) -> Self | None:
        """The marks that tags of a file hold, whatever the case of their names; None where it has none of ours.

        The tags are a stranger's: what is too long is cut, and an id that is none is left out.
        """
        given = {name.casefold(): value[:_LONGEST] for name, value in tags.items()}
        joined = next((value for name, value in tags.items() if name.casefold() == "comment"), "")[:_LONGEST_HEADER]
        given = {name.casefold(): value[:_LONGEST] for name, value in _JOINED.findall(joined)} | given
        source = given.get(SOURCE_TAG.casefold())
        if source is None:
            return None
        content_id = given.get(ID_TAG.casefold(), "")
        return cls(
            content_id=content_id if is_content_id(content_id) else "",
            model=given.get(MODEL_TAG.casefold(), ""),
            made=given.get("date", ""),
            software=given.get(SOFTWARE_TAG.casefold(), ""),
            source=source,
        )


def tags_in_header(header: str) -> dict[str, str]:
    """The tags for a file of an answer whose provenance header this is; none where it has none."""
    given = {name: re.sub(r"\\(.)", r"\1", text) for name, text in _MEMBER.findall(header[:_LONGEST_HEADER])}
    names = {"source": SOURCE_TAG, "software": SOFTWARE_TAG, "model": MODEL_TAG, "id": ID_TAG, "made": "date"}
    marks = Marks.found_in({tag: given[name] for name, tag in names.items() if name in given})
    return {} if marks is None else marks.tags


def _quoted(text: str) -> str:
    """A text as the inside of a structured string, which holds printable ASCII alone."""
    plain = "".join(sign if " " <= sign <= "~" else "?" for sign in text)
    return plain.replace("\\", "\\\\").replace('"', '\\"')
