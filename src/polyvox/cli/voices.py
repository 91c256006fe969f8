"""`polyvox voices`: who can speak."""

import json
from dataclasses import asdict
from typing import Annotated

import typer


def voices(
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="Only voices of this language: en, en-gb, zh ...")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Model whose voices to list.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the voices of a model."""
    from rich.console import Console
    from rich.table import Table

    from polyvox.config import load
    from polyvox.engines.catalog import ENGINES
    from polyvox.errors import InvalidRequestError, UnknownModelError

    settings = load()
    name = model or settings.default_model
    if name not in ENGINES:
        raise UnknownModelError(f"There is no model {name!r}; known are {', '.join(ENGINES)}.", field="model")
    every = ENGINES[name](settings).voices
    found = [voice for voice in every if language is None or _speaks(voice.language, language)]
    if not found:
        spoken = ", ".join(sorted({voice.language for voice in every}))
        raise InvalidRequestError(f"{name} has no voice for {language!r}; it speaks {spoken}.", field="language")
    if as_json:
        print(json.dumps([asdict(voice) for voice in found], indent=2, ensure_ascii=False))
        return
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("voice", "name", "language", "gender"):
        table.add_column(column)
    for voice in found:
        table.add_row(voice.id, voice.name, voice.language, voice.gender)
    Console().print(table)


def _speaks(tag: str, wanted: str) -> bool:
    """Whether a voice's tag is the wanted one or a region of it."""
    wanted = wanted.lower().replace("_", "-")
    return tag == wanted or tag.startswith(f"{wanted}-")
