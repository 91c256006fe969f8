"""Sources of settings, and the loader that reads them.

A value is looked for in this order: an argument of the command line, the environment (`POLYVOX_PORT`), the file `.env`,
both of these under the names of other servers (`ForeignVariables`), the YAML file named by `POLYVOX_CONFIG` (or
`polyvox.yaml` in the working directory), the default.
"""

import difflib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from dotenv import dotenv_values
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from polyvox.config import ENV_PREFIX, Settings, SettingsSection
from polyvox.errors import InvalidRequestError

_CONFIG = f"{ENV_PREFIX}CONFIG"
_NOT_SETTINGS = frozenset({"config", "api_key", "url"})
"""Variables that name the YAML file, and the key and the address that clients use."""

# The standard library's: without any set-up it writes to standard error, and settings are read before logs are set up.
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ForeignVariables:
    """Environment variables as another server names them, and the settings that they mean.

    `variables` leads from the full name of a setting to the variable, in lower case. `derive` adds what takes more than
    a change of name; it is given all variables and has the last word, and `derived` leads from those that it reads to
    the setting they decide. `settle` is given the values of all sources and returns those that mean something else in
    the server's own words. `ignored` are variables that change nothing here, each with what to use instead. `shared`
    are those of all these names that other programs use too: they count only beside one that is not.
    """

    server: str
    variables: Mapping[str, str]
    derive: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None
    derived: Mapping[str, str] = field(default_factory=dict)
    settle: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    ignored: Mapping[str, str] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """Every variable of the server, in lower case."""
        return frozenset((*self.variables.values(), *self.derived, *self.ignored))

    def values(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The settings that an environment gives under these names."""
        read = self._read(environment)
        found = {name: read[variable] for name, variable in self.variables.items() if variable in read}
        return found if self.derive is None else found | dict(self.derive(read))

    def honoured(self, environment: Mapping[str, str]) -> frozenset[str]:
        """The variables of the server that are set and have an effect."""
        return (self.names - self.ignored.keys()) & self._read(environment).keys()

    def without_effect(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Remedies by variable of the server that is set without effect.

        One that other programs use too is left out where it would have no effect anyway.
        """
        unread = self.names & (environment.keys() - self._read(environment).keys())
        alone = {name: self._own_name(name) for name in unread - self.ignored.keys()}
        ignored = {name: self.ignored[name] for name in self.ignored.keys() & environment.keys() - unread}
        return alone | ignored

    def _read(self, environment: Mapping[str, str]) -> Mapping[str, str]:
        """The variables that are taken for the server's own, and those of all other programs."""
        if environment.keys() & (self.names - self.shared):
            return environment
        return {name: value for name, value in environment.items() if name not in self.shared}

    def _own_name(self, variable: str) -> str:
        settings = {theirs: name for name, theirs in self.variables.items()} | dict(self.derived)
        return f"other programs use that name too; set {_variable(settings[variable])}"


@dataclass(frozen=True, slots=True)
class _Layer:
    """One source of settings: its label, and values by full names."""

    label: str
    values: Mapping[str, Any]
    strict: bool = False
    """True if a name that nothing knows is refused."""


@dataclass(frozen=True, slots=True)
class Loader:
    """Reads settings: the server's, and those of `sections`.

    `complete` says that `sections` holds every section there is, so that a name that nothing knows is a mistake: it is
    refused in YAML and `.env`, and warned about in the environment.
    """

    sections: Sequence[type[SettingsSection]] = ()
    foreign: Sequence[ForeignVariables] = ()
    complete: bool = True

    def load(self, **arguments: object) -> Settings:
        """Read the settings, and warn about unknown variables; arguments that are None count as not given."""
        if self.complete:
            self._warn_of_unknown(_environment())
            self._warn_of_unknown_in_dotenv(_dotenv())
            self._warn_of_ignored({**_dotenv(), **_environment()})
        return self._read(arguments)

    def _read(self, arguments: Mapping[str, object]) -> Settings:
        given = {name: value for name, value in arguments.items() if value is not None}
        layers = [_Layer("command line", given, strict=True), *self._layers()]
        if self.complete:
            self._refuse_unknown(layers)
        values: dict[str, Any] = {}
        for layer in reversed(layers):
            values |= layer.values
        for each in self.foreign:
            values |= {} if each.settle is None else each.settle(values)
        return self._validated(values)

    def given(self, **values: object) -> Settings:
        """Settings of these values and defaults alone, whatever the environment says."""
        self._refuse_unknown([_Layer("given", values, strict=True)])
        return self._validated(values)

    def origins(self, settings: Settings) -> Iterator["Origin"]:
        """The origin of each effective value, the server's settings first."""
        layers = self._layers()
        without_arguments = self._read({})
        pairs = {pair[0]: pair for pair in _paired(settings, without_arguments, self.sections)}
        for name, info, now, then in pairs.values():
            source = next((layer.label for layer in layers if name in layer.values), "default")
            if now != then:
                source = "command line"
            yield Origin(name, _shown(now), source, info.description or "")

    def names(self) -> Sequence[str]:
        """The full name of every setting; two sections may share one."""
        brought = (name for section in self.sections for name in section.setting_names().values())
        return tuple(dict.fromkeys((*Settings.model_fields, *brought)))

    def _layers(self) -> list[_Layer]:
        environment, dotenv = _environment(), _dotenv()
        both = {**dotenv, **environment}
        foreign = [_Layer(f"{each.server} names", each.values(both)) for each in self.foreign]
        path = config_file()
        return [
            _Layer("environment", self._known(_ours(environment))),
            _Layer(".env", _ours(dotenv), strict=True),
            *foreign,
            _Layer(str(path), self._flattened(_yaml(path)), strict=True),
        ]

    def _known(self, values: Mapping[str, Any]) -> dict[str, Any]:
        known = set(self.names())
        return {name: value for name, value in values.items() if name in known}

    def _flattened(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """YAML's values by full names: a block under a section's name holds that section's fields."""
        flat = dict(values)
        for section in self.sections:
            block = flat.get(section.section)
            if section.section in Settings.model_fields or not isinstance(block, Mapping):
                continue
            del flat[section.section]
            names = section.setting_names()
            flat |= {names.get(field, f"{section.section}.{field}"): value for field, value in block.items()}
        return flat

    def _refuse_unknown(self, layers: Iterable[_Layer]) -> None:
        known = set(self.names())
        for layer in layers:
            unknown = next((name for name in layer.values if name not in known), None) if layer.strict else None
            if unknown is not None:
                raise InvalidRequestError(
                    f"There is no setting {unknown!r} ({layer.label}){_nearest(unknown, known)}", field=unknown
                )

    def _warn_of_unknown(self, environment: Mapping[str, str]) -> None:
        known = self.names()
        for name in sorted(set(_ours(environment)) - {*known, *_NOT_SETTINGS}):
            remedy = _nearest(name, known, _variable)
            log.warning("%s has no effect: there is no such setting%s", _variable(name), remedy)

    def _warn_of_unknown_in_dotenv(self, dotenv: Mapping[str, str]) -> None:
        known = {name for each in self.foreign for name in each.names}
        for name in sorted(dotenv.keys() - known):
            if not name.startswith(ENV_PREFIX.lower()):  # those are refused
                log.warning("%s in .env has no effect: nothing reads it from there", name.upper())

    def _warn_of_ignored(self, variables: Mapping[str, str]) -> None:
        named = {name for each in self.foreign for name in each.honoured(variables)}
        for each in self.foreign:
            found = each.without_effect(variables)
            for name in sorted(found.keys() - named):
                log.warning("%s, one of %s variables, has no effect here: %s", name.upper(), each.server, found[name])
            named |= found.keys()

    def _validated(self, values: Mapping[str, Any]) -> Settings:
        own = {name: values[name] for name in Settings.model_fields if name in values}
        settings = _valid(Settings, own, {})
        for section in self.sections:
            names = section.setting_names()
            given = {field: values[name] for field, name in names.items() if name in values}
            settings = settings.with_section(_valid(section, given, names))
        return settings


@dataclass(frozen=True, slots=True)
class Origin:
    """One setting as it stands: name, value (secrets hidden), source and meaning."""

    name: str
    value: object
    source: str
    description: str


def config_file() -> Path:
    """The YAML file that applies, whether or not it exists."""
    return Path(os.environ.get(_CONFIG) or "polyvox.yaml")


def _environment() -> dict[str, str]:
    """The environment by names in lower case; a variable that is empty counts as not given."""
    return {name.lower(): value for name, value in os.environ.items() if value}


def _dotenv() -> dict[str, str]:
    return {name.lower(): value for name, value in dotenv_values(".env").items() if value}


def is_on(value: str) -> bool:
    """Return whether a variable's text means yes."""
    return value.strip().lower() in ("1", "true", "yes", "on")


def _ours(variables: Mapping[str, str]) -> dict[str, str]:
    prefix = ENV_PREFIX.lower()
    return {name.removeprefix(prefix): value for name, value in variables.items() if name.startswith(prefix)}


def _yaml(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        if os.environ.get(_CONFIG):
            raise InvalidRequestError(f"{_CONFIG} names {str(path)!r}, which is not a file.", field="config")
        return {}
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidRequestError(f"{path} is not YAML: {error}.", field="config") from error
    if values is not None and not isinstance(values, Mapping):
        raise InvalidRequestError(f"{path} must hold settings by their names.", field="config")
    return values or {}


Model = TypeVar("Model", bound=BaseModel)


def _valid(kind: type[Model], values: Mapping[str, Any], names: Mapping[str, str]) -> Model:
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        field, *inner = (str(part) for part in first["loc"])
        name = ".".join((names.get(field, field), *inner))
        raise InvalidRequestError(f"Setting {name!r}: {first['msg']}.", field=name) from error


def _paired(
    settings: Settings, others: Settings, sections: Sequence[type[SettingsSection]]
) -> Iterator[tuple[str, FieldInfo, object, object]]:
    """Each setting's full name and field, and its value in both."""
    for name, info in Settings.model_fields.items():
        yield name, info, getattr(settings, name), getattr(others, name)
    for section in sections:
        one, other = settings.section(section), others.section(section)
        names = section.setting_names()
        for attribute, info in section.model_fields.items():
            yield names[attribute], info, getattr(one, attribute), getattr(other, attribute)


def _shown(value: object) -> object:
    """A value as JSON; secrets hidden."""
    if isinstance(value, Path | SecretStr):
        return str(value)
    return [_shown(each) for each in value] if isinstance(value, list) else value


def _variable(name: str) -> str:
    return f"{ENV_PREFIX}{name.upper()}"


def _nearest(name: str, known: Iterable[str], shown: Callable[[str], str] = repr) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {shown(near[0])}?" if near else "; `polyvox config` lists them all."
