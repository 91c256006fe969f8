"""Write docs/settings.md, every setting with its variable, default and meaning, and what the Helm chart knows of them.

Run it after changing a setting.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from polyvox.api.doors import DOORS
from polyvox.config import ENV_PREFIX, Settings
from polyvox.engines.catalog import BUILT_IN
from polyvox.extras import EXTRAS
from polyvox.settings_loader import ForeignVariables

_ROOT = Path(__file__).parents[1]
PAGE = _ROOT / "docs" / "settings.md"
CHART_NAMES = _ROOT / "deploy" / "helm" / "polyvox" / "setting-names.yaml"
CHART_SCHEMA = _ROOT / "deploy" / "helm" / "polyvox" / "values.schema.json"
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
_EXTRAS = """
## Extras

Some settings need an extra of the package. Without it the server does not start, and names what to install, or which
[image](deploy/containers.md) to build. Models that run in PyTorch need `torch`, whatever their settings.

| extra | for | settings that need it | modules | images that have it |
|---|---|---|---|---|
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
    parts += [_EXTRAS, *_extras()]
    foreign = [door.foreign for door in DOORS if door.foreign is not None]
    parts += [_FOREIGN, *(row for each in foreign for row in _understood(each))]
    parts += [_IGNORED, *(row for each in foreign for row in _without_effect(each))]
    return "".join(parts)


def _extras() -> Iterator[str]:
    for extra in EXTRAS:
        settings = ", ".join(f"`{name}`" for name in extra.settings) or "none"
        instead = f" (or the program `{extra.program}`)" if extra.program else ""
        modules = ", ".join(f"`{module}`" for module in extra.modules)
        images = ", ".join(extra.images) or "none"
        yield f"| `{extra.name}` | {extra.purpose} | {settings} | {modules}{instead} | {images} |\n"


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


def _sections() -> Iterator[tuple[type[BaseModel], dict[str, str]]]:
    """Every class of settings, with the full names of its fields."""
    yield Settings, {name: name for name in Settings.model_fields}
    for part in (*BUILT_IN, *DOORS):
        if part.settings is not None:
            yield part.settings, part.settings.setting_names()


def chart_names() -> str:
    """The names of all settings, and of those that are secret, for the chart to check values against."""
    fields = {names[field]: info for section, names in _sections() for field, info in section.model_fields.items()}
    secret = [name for name, info in fields.items() if _is_secret(info.annotation)]
    head = "# Written by scripts/build_settings_reference.py; a test compares it with the code.\n"
    lists = {"names": sorted(fields), "secrets": sorted(secret)}
    return head + "".join(f"{key}:\n" + "".join(f"  - {name}\n" for name in names) for key, names in lists.items())


def chart_schema() -> str:
    """The schema of the chart's values as it stands, with the types and ranges of all settings as they are now."""
    schema = json.loads(CHART_SCHEMA.read_text(encoding="utf-8"))
    known: dict[str, dict[str, Any]] = {}
    for section, names in _sections():
        fields = section.model_json_schema()["properties"]
        known |= {names[field]: _value_schema(found) for field, found in fields.items()}
    schema["definitions"]["knownSettings"] = {"type": "object", "properties": dict(sorted(known.items()))}
    return json.dumps(schema, indent=2) + "\n"


_KEPT = ("type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "pattern")


def _value_schema(found: dict[str, Any]) -> dict[str, Any]:
    """A field's schema for a value of the chart: a list may be written as text too, and nothing is null."""
    [found] = [each for each in found.get("anyOf", [found]) if each.get("type") != "null"]
    if found["type"] == "array":
        return {"type": ["string", "array"], "items": _value_schema(found["items"])}
    if found["type"] == "object":
        return {"type": "string"}
    return {key: found[key] for key in _KEPT if key in found}


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
    given = info.get_default(call_default_factory=True, validated_data=Settings().model_dump())
    value = given.get_secret_value() if isinstance(given, SecretStr) else given
    if value in (None, "", [], {}):
        return "none"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"`{re.sub(r'[|`]', '', text)}`"


if __name__ == "__main__":
    for path, text in ((PAGE, page()), (CHART_NAMES, chart_names()), (CHART_SCHEMA, chart_schema())):
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"Wrote {path}.\n")
