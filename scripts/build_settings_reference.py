"""Write docs/settings.md, every setting with its variable, default and meaning, and the names for the Helm chart.

Run it after changing a setting.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from polyvox.api.doors import DOORS
from polyvox.config import ENV_PREFIX, Settings
from polyvox.engines.catalog import BUILT_IN
from polyvox.settings_loader import ForeignVariables

_ROOT = Path(__file__).parents[1]
PAGE = _ROOT / "docs" / "settings.md"
CHART_NAMES = _ROOT / "deploy" / "helm" / "polyvox" / "setting-names.yaml"
_HEAD = """# Settings

<!-- Written by scripts/build_settings_reference.py; a test compares it with the code. -->

```sh
polyvox config          # every setting, its value, and where that came from
```

A value is looked for in this order:

1. an option of the command line,
2. the environment: `POLYVOX_PORT=9000`,
3. the file `.env` in the working directory,
4. variables of other servers, listed [below](#variables-of-other-servers), in the environment or in `.env`,
5. a YAML file: `polyvox.yaml` in the working directory, or the one that `POLYVOX_CONFIG` names,
6. the default.

In YAML, an engine's settings may be written by their full names or as a block:

```yaml
port: 9000
kokoro_threads: 2
cosyvoice:
  device: cuda
```

A name that nothing knows is refused in YAML, and so is one in `.env` that begins with `POLYVOX_`. Such a name in the
environment, and any other name in `.env`, is logged as a warning.
"""
_FOREIGN = """
## Variables of other servers

| server | variable | setting |
|---|---|---|
"""
_IGNORED = """
\\* Other programs use this name too. It counts only beside a variable of the same server without the mark; alone it is
named in the log.

These have no effect. The log names those that are set when the server starts, and what to use instead; a name with \\*
only beside another variable of the same server.

| server | variable | instead |
|---|---|---|
"""


def page() -> str:
    """The page as it should be."""
    parts = [_HEAD, "\n## Server\n\n", *_table(Settings, {name: name for name in Settings.model_fields})]
    for spec in BUILT_IN:
        if spec.settings is not None:
            parts += [f"\n## {spec.title[0].upper()}{spec.title[1:]}\n\n"]
            parts += _table(spec.settings, spec.settings.setting_names())
    for door in DOORS:
        if door.settings is not None:
            parts += [f"\n## Dialect: {door.name}\n\n", *_table(door.settings, door.settings.setting_names())]
    foreign = [door.foreign for door in DOORS if door.foreign is not None]
    parts += [_FOREIGN, *(row for each in foreign for row in _understood(each))]
    parts += [_IGNORED, *(row for each in foreign for row in _without_effect(each))]
    return "".join(parts)


def _understood(foreign: ForeignVariables) -> Iterator[str]:
    settings = {variable: name for name, variable in foreign.variables.items()} | dict(foreign.derived)
    for variable, name in settings.items():
        mark = "\\*" if variable in foreign.shared else ""
        yield f"| {_server(foreign)} | `{variable.upper()}`{mark} | `{name}` |\n"


def _server(foreign: ForeignVariables) -> str:
    return foreign.server.removesuffix("'s")


def _without_effect(foreign: ForeignVariables) -> Iterator[str]:
    for variable, instead in foreign.ignored.items():
        mark = "\\*" if variable in foreign.shared else ""
        yield f"| {_server(foreign)} | `{variable.upper()}`{mark} | {instead} |\n"


def chart_names() -> str:
    """The names of all settings, and of those that are secret, for the chart to check values against."""
    sections: list[tuple[type[BaseModel], dict[str, str]]] = [
        (Settings, {name: name for name in Settings.model_fields})
    ]
    for part in (*BUILT_IN, *DOORS):
        if part.settings is not None:
            sections.append((part.settings, part.settings.setting_names()))
    fields = {names[field]: info for section, names in sections for field, info in section.model_fields.items()}
    secret = [name for name, info in fields.items() if _is_secret(info.annotation)]
    head = "# Written by scripts/build_settings_reference.py; a test compares it with the code.\n"
    lists = {"names": sorted(fields), "secrets": sorted(secret)}
    return head + "".join(f"{key}:\n" + "".join(f"  - {name}\n" for name in names) for key, names in lists.items())


def _is_secret(annotation: object) -> bool:
    return annotation is SecretStr or any(map(_is_secret, get_args(annotation)))


def _table(section: type[BaseModel], names: dict[str, str]) -> Iterator[str]:
    yield "| setting | variable | default | meaning |\n|---|---|---|---|\n"
    for field, info in section.model_fields.items():
        name = names[field]
        meaning = (info.description or "").replace("|", "\\|")
        yield f"| `{name}` | `{ENV_PREFIX}{name.upper()}` | {_default(name, info)} | {meaning} |\n"


def _default(name: str, info: FieldInfo) -> str:
    folders = {"models_dir": "`~/.cache/polyvox/models`", "data_dir": "`~/.local/share/polyvox`"}
    if name in folders:
        return folders[name]
    given = info.get_default(call_default_factory=True)
    value = given.get_secret_value() if isinstance(given, SecretStr) else given
    if value in (None, "", [], {}):
        return "none"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"`{re.sub(r'[|`]', '', text)}`"


if __name__ == "__main__":
    for path, text in ((PAGE, page()), (CHART_NAMES, chart_names())):
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"Wrote {path}.\n")
