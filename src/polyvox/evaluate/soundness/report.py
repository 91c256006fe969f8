"""The report of a check: a table with a verdict, and JSON."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from polyvox.evaluate.soundness.criteria import Judgement
from polyvox.evaluate.soundness.trial import Trial

_MET = {True: ("met", "green"), False: ("missed", "red"), None: ("not judged", "yellow")}
_CELL_CHARS = 26
"""A reason, which may be a command to copy, stands whole below the table, and so does a longer figure."""
EXIT_CODES = {True: 0, False: 1, None: 2}
"""The exit code of a sound model, of one that is not, and of one that could not be judged."""


def verdict(model: str, judgement: Judgement) -> str:
    """The judgement in a sentence."""
    if judgement.sound:
        return f"{model} is sound."
    names = "; ".join(each.name for each in judgement.criteria if each.met is judgement.sound)
    word = "is not sound" if judgement.sound is False else "could not be judged"
    return f"{model} {word}: {names}."


def as_table(model: str, judgement: Judgement) -> RenderableType:
    """The criteria as a table for a terminal, what could not be judged and why, and the verdict."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("criterion", "measured", "limit", ""):
        table.add_column(title, no_wrap=title in ("measured", ""))
    notes = [Text()]
    for each in judgement.criteria:
        (word, style), fits = _MET[each.met], each.met is not None and len(each.measured) <= _CELL_CHARS
        table.add_row(Text(each.name), Text(each.measured if fits else "–"), Text(each.limit), Text(word, style=style))
        if not fits:
            notes.append(Text(f"{each.name}: {each.measured}", style="dim"))
    return Group(table, *notes, Text(verdict(model, judgement), style=_MET[judgement.sound][1]))


def as_json(judgement: Judgement, trial: Trial) -> dict[str, Any]:
    """The criteria, and every sentence."""
    return {
        "sound": judgement.sound,
        "criteria": [
            {"name": each.name, "met": each.met, "value": each.value, "measured": each.measured, "limit": each.limit}
            for each in judgement.criteria
        ],
        "sentences": [
            {
                "voice": sentence.voice,
                "text": sentence.text,
                "transcript": transcript,
                "seconds": round(sentence.seconds, 3),
                "first_seconds": round(sentence.first_seconds, 3),
                "wall_seconds": round(sentence.wall_seconds, 3),
                "error": sentence.error or None,
            }
            for sentence, transcript in zip(trial.alone, judgement.transcripts, strict=True)
        ],
    }
