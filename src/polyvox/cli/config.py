"""`polyvox config`: every setting, its value and its source."""

import json
from dataclasses import asdict
from typing import Annotated

import typer


def config(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print every setting, its value and its source."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from polyvox.installation import settings_loader

    loader = settings_loader()
    settings = list(loader.origins(loader.load()))
    if as_json:
        print(json.dumps([asdict(origin) for origin in settings], indent=2, ensure_ascii=False))
        return
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("setting", "value", "from", "meaning"):
        table.add_column(column)
    for origin in settings:
        given = "" if origin.source == "default" else "bold"
        value = origin.value if isinstance(origin.value, str) else json.dumps(origin.value, ensure_ascii=False)
        table.add_row(
            Text(origin.name, given), Text(value, given), Text(origin.source, given), Text(origin.description, "dim")
        )
    Console().print(table)
