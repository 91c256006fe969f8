"""Dialogue scripts: lines of `voice: text`."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from polyvox.errors import InvalidRequestError

if TYPE_CHECKING:
    from polyvox.service.kinds.dialogue_segments import DialogueTurn

_LINE = re.compile(r"(?P<voice>\S[^\n]{0,200}?):\s+(?P<text>\S.*)")


def read_turns(script: str) -> "tuple[DialogueTurn, ...]":
    """Parse a script; an indented line continues the turn before it, empty lines are skipped."""
    from polyvox.service.kinds.dialogue_segments import DialogueTurn

    turns: list[DialogueTurn] = []
    for number, line in enumerate(script.splitlines(), start=1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line)
        if found is not None:
            turns.append(DialogueTurn(found["voice"].strip(), found["text"].strip()))
        elif turns and line[0].isspace():
            turns[-1] = replace(turns[-1], text=f"{turns[-1].text} {line.strip()}")
        else:
            raise InvalidRequestError(
                f"Line {number} names no voice; write `voice: text`, or indent it to continue the turn before.",
                field="text",
            )
    return tuple(turns)


def check_options(*, dialogue: bool, voice: str | None, pause: float | None) -> None:
    """Refuse options that belong to the other kind of request."""
    if dialogue and voice is not None:
        raise InvalidRequestError("In a dialogue each line names its voice; leave --voice out.", field="voice")
    if not dialogue and pause is not None:
        raise InvalidRequestError("--pause is for dialogues; write [pause:1s] into a text.", field="pause")
