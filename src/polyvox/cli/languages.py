"""`polyvox languages`: the languages that text can be phonemized in, and what is missing for them."""

import json
from typing import Annotated

import typer

_NOTICE = (
    "espeak-ng is free software under the GPL-3.0, optional and no part of Polyvox; it runs in a process of its own."
)


def languages(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the languages of models that read phonemes, such as Kokoro, and what each needs that is not installed."""
    from rich.console import Console
    from rich.table import Table

    from polyvox.extras import install_hint
    from polyvox.installation import load_settings
    from polyvox.text.phonemes import LANGUAGES
    from polyvox.text.phonemes.availability import missing_extra

    espeak = load_settings().espeak
    lacking = {language: missing_extra(language, espeak) for language in LANGUAGES}
    needs = {language: install_hint(extra) if extra else "" for language, extra in lacking.items()}
    if as_json:
        print(json.dumps([{"language": name, "available": not need, "needs": need} for name, need in needs.items()]))
        return
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("language", "available", "needs"):
        table.add_column(column)
    for name, need in needs.items():
        table.add_row(name, "no" if need else "yes", need.replace("[", "\\["))
    Console().print(table)
    print(_NOTICE)
