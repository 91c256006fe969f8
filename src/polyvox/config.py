"""Settings of the server, and how all settings are loaded.

The server's own settings are the fields of `Settings`. An engine family or a dialect brings a `SettingsSection` of its
own, so that nothing here knows any of them. A value is looked for in this order: an argument of the command line, the
environment (`POLYVOX_PORT`), the file `.env`, both of these under the names of other servers (`ForeignVariables`), the
YAML file named by `POLYVOX_CONFIG` (or `polyvox.yaml` in the working directory), the default.
"""

import difflib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import yaml
from dotenv import dotenv_values
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from polyvox.errors import InvalidRequestError

ENV_PREFIX = "POLYVOX_"
_CONFIG = f"{ENV_PREFIX}CONFIG"
_NOT_SETTINGS = frozenset({"config", "api_key", "url"})
"""Variables that name the YAML file, and the key that clients send."""

# The standard library's: without any set-up it writes to standard error, and settings are read before logs are set up.
log = logging.getLogger(__name__)


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "polyvox"


def _data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "polyvox"


def _split_commas(value: object) -> object:
    if not isinstance(value, str):
        return value
    bare = value.strip().removeprefix("[").removesuffix("]")
    return [part.strip() for part in bare.split(",") if part.strip()]


_Item = TypeVar("_Item")
CommaList = Annotated[list[_Item], BeforeValidator(_split_commas)]
"""A list that may be written as text, `a, b` or `[a, b]`."""


class SettingsSection(BaseModel):
    """Settings of one engine family or one dialect; every field has a default.

    A field `threads` of the section `kokoro` is the setting `kokoro_threads`: `POLYVOX_KOKORO_THREADS` in the
    environment, `kokoro_threads:` in YAML, or `threads:` in a YAML block `kokoro:`. `names` gives the full name of a
    field for which that rule does not hold.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    section: ClassVar[str]
    names: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @classmethod
    def setting_names(cls) -> dict[str, str]:
        """The full name of each field, by the field."""
        return {field: cls.names.get(field, f"{cls.section}_{field}") for field in cls.model_fields}


Section = TypeVar("Section", bound=SettingsSection)


class Settings(BaseModel):
    """The effective settings of one process; immutable. Made from the environment by `load`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Doors
    host: str = Field("127.0.0.1", description="Address to bind; loopback unless you decide otherwise.")
    port: int = Field(8880, ge=0, le=65535, description="Port to bind; 0 takes a free one.")
    server: Literal["uvicorn", "granian"] = Field(
        "uvicorn", description="What speaks HTTP; granian is written in Rust."
    )
    grpc_port: int | None = Field(
        None, ge=0, le=65535, description="Port of the gRPC doors; 0 takes a free one, unset: none are opened."
    )
    grpc_max_calls: int = Field(
        0, ge=0, description="Calls for speech at once over gRPC; 0: as many as `max_sessions` and `max_queue` allow."
    )
    api_keys: CommaList[SecretStr] = Field([], description="Bearer keys; empty means that no key is asked for.")
    allowed_hosts: CommaList[str] = Field(
        [], description="Names by which a server on loopback without keys may be called, too; `*` allows all."
    )
    cors_origins: CommaList[str] = Field([], description="Origins allowed by CORS; `*` allows all.")
    max_body_bytes: int = Field(4_194_304, ge=1024, description="Largest request body that is read.")
    max_input_chars: int = Field(100_000, ge=1, description="Longest text of one request, in characters.")
    allow_voice_download: bool = Field(True, description="Whether /v1/audio/voices/combine may return the mixed voice.")

    # Models
    models_dir: Path = Field(
        default_factory=lambda: _cache_home() / "models", description="Folder of installed models."
    )
    models: CommaList[str] = Field(["kokoro"], description="Models to load when the server starts.")
    default_model: str = Field("kokoro", description="Model for requests that name none, or name one of OpenAI's.")
    default_voice: str = Field("af_heart", description="Voice for requests that name none.")
    hub_url: str = Field("https://huggingface.co", description="Hugging Face hub, or a mirror of it.")
    modelscope_url: str = Field("https://modelscope.cn", description="ModelScope's hub, or a mirror of it.")

    # Text
    espeak: str = Field("espeak-ng", description="espeak-ng program, used where it is installed.")

    # Sessions
    max_sessions: int = Field(32, ge=1, description="Requests that are spoken at once.")
    max_queue: int = Field(64, ge=0, description="Requests that may wait; beyond that the answer is 429.")
    session_buffer: int = Field(
        4, ge=1, le=64, description="Chunks that wait for a slow client before its session pauses."
    )
    deadline_seconds: float = Field(600.0, gt=0, description="Longest life of one request.")
    stall_seconds: float = Field(60.0, gt=0, description="How long a client may read nothing before it is dropped.")
    drain_seconds: float = Field(30.0, ge=0, description="How long open streams may finish at shutdown.")
    dialogue_max_turns: int = Field(500, ge=1, description="Most turns of one dialogue.")
    dialogue_max_voices: int = Field(8, ge=1, le=64, description="Most voices in one dialogue.")

    # Reference recordings
    prompt_max_bytes: int = Field(
        10_485_760, ge=1024, le=33_554_432, description="Largest reference recording, in bytes."
    )
    prompt_min_seconds: float = Field(1.0, gt=0, description="Shortest reference recording, silence cut from its ends.")
    prompt_max_seconds: float = Field(
        30.0, gt=0, le=60, description="Longest reference recording, silence cut from its ends."
    )
    prompt_min_score: float = Field(
        0.3, ge=0, le=1, description="Quality below which a reference recording is refused; 0 takes all."
    )
    prompt_workers: int = Field(2, ge=1, le=64, description="Reference recordings that are read and checked at once.")
    allow_fetch: bool = Field(False, description="Whether reference recordings may be fetched by their URL.")
    fetch_allow_hosts: CommaList[str] = Field(
        [],
        description="Hosts to fetch from: `name`, `name:port` or `*.name`; empty means all, at their standard port.",
    )
    fetch_allow_http: bool = Field(False, description="Whether plain http may be fetched as well as https.")
    fetch_max_bytes: int = Field(10_485_760, ge=1024, description="Largest file that is fetched.")
    fetch_timeout_seconds: float = Field(10.0, gt=0, le=120, description="Longest fetch, redirects included.")

    allow_inline: bool = Field(True, description="Whether requests for speech may carry a reference recording.")
    recording_dirs: CommaList[Path] = Field(
        [], description="Folders whose files requests may name by their path as reference recordings; empty: none."
    )

    # Registered voices
    data_dir: Path = Field(default_factory=_data_home, description="Folder of registered voices; on a local disk.")
    max_voices: int = Field(1_000, ge=0, description="Voices that one key may register, or everyone without keys.")
    max_fits: int = Field(4, ge=0, le=100, description="Fits of voices that may run or wait; one runs at a time.")
    fit_steps: int = Field(
        0, ge=0, le=1_000, description="Steps of a fit, of which more come closer; 0: as many as suit the device."
    )
    fit_threads: int = Field(0, ge=0, le=1_024, description="CPU threads of a fit; 0 takes all cores.")
    recording_cache_bytes: int = Field(
        67_108_864, ge=0, description="Memory for recordings that were fetched, and as much for those sent inline."
    )
    recording_cache_seconds: float = Field(3_600.0, gt=0, description="How long such a recording is kept.")
    prepared_cache_bytes: int = Field(268_435_456, ge=0, description="Memory for voices that engines have prepared.")
    prepared_cache_seconds: float = Field(86_400.0, gt=0, description="How long a prepared voice is kept in memory.")
    prepared_disk_bytes: int = Field(0, ge=0, description="Disk space for prepared voices; 0 uses memory only.")
    prepared_disk_seconds: float = Field(2_592_000.0, gt=0, description="How long an unused one is kept on disk.")

    # Ray Serve; a model's own figures can be given in ray.yaml
    ray_min_replicas: int = Field(1, ge=0, le=1_000, description="Fewest processes of one model.")
    ray_initial_replicas: int = Field(1, ge=0, le=1_000, description="Processes of one model at the start.")
    ray_max_replicas: int = Field(2, ge=1, le=1_000, description="Most processes of one model.")
    ray_target_ongoing_requests: float = Field(
        2.0, gt=0, description="Requests that one process should have at a time; more or fewer processes follow it."
    )
    ray_max_ongoing_requests: int = Field(5, ge=1, description="Requests that one process takes at a time.")
    ray_max_queued_requests: int = Field(
        20, ge=1, description="Requests for one model that may wait for a process; beyond that the answer is 429."
    )
    ray_upscale_delay_seconds: float = Field(5.0, ge=0, description="How long a load lasts before a process is added.")
    ray_downscale_delay_seconds: float = Field(120.0, ge=0, description="How long a lull lasts before one is removed.")
    ray_gpus: float | None = Field(
        None,
        ge=0,
        description="GPUs of one process, or a share of one; unset: 1 for models that use it, if there is one.",
    )
    ray_threads: int = Field(
        0, ge=0, le=1_024, description="CPU threads of one process; 0 shares the cores out among the most processes."
    )
    ray_ingress_replicas: int = Field(1, ge=1, le=64, description="Processes that hold the doors.")
    ray_wedged_seconds: float = Field(
        60.0, gt=0, description="How long a model may make nothing while callers wait before its process is replaced."
    )
    ray_probe_seconds: float = Field(60.0, gt=0, description="How long a model may be idle before it is tried.")
    ray_health_seconds: float = Field(
        10.0,
        gt=0,
        description="How often a process is asked whether it is well; after three bad answers it is replaced.",
    )

    # Logs
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level that is logged.")
    log_format: Literal["auto", "console", "json"] = Field(
        "auto", description="`auto`: console on a terminal, else JSON."
    )
    log_file: Path | None = Field(None, description="Also log here, rotated and compressed.")
    log_file_bytes: int = Field(10_485_760, ge=4096, description="Size at which the log file rotates.")
    log_file_keep: int = Field(10, ge=1, description="Rotated log files to keep.")

    _sections: dict[str, SettingsSection] = PrivateAttr(default_factory=dict)

    def section(self, kind: type[Section]) -> Section:
        """The settings of one engine family or dialect; its defaults where nothing was loaded for it."""
        found = self._sections.get(kind.section)
        return found if isinstance(found, kind) else kind()

    def with_section(self, section: SettingsSection) -> Self:
        """These settings with one section replaced."""
        changed = self.model_copy()
        changed._sections = {**self._sections, section.section: section}
        return changed

    def sections(self) -> Sequence[SettingsSection]:
        """Every section that was loaded."""
        return tuple(self._sections.values())


@dataclass(frozen=True, slots=True)
class ForeignVariables:
    """Environment variables as another server names them, and the settings that they mean.

    `variables` leads from the full name of a setting to the variable, in lower case. `derive` adds what takes more than
    a change of name; it is given all variables and has the last word.
    """

    server: str
    variables: Mapping[str, str]
    derive: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None

    def values(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The settings that an environment gives under these names."""
        found = {name: environment[variable] for name, variable in self.variables.items() if variable in environment}
        return found if self.derive is None else found | dict(self.derive(environment))


@dataclass(frozen=True, slots=True)
class _Layer:
    """One source of settings: its label, and values by full names."""

    label: str
    values: Mapping[str, Any]
    strict: bool = False
    """Whether a name that nothing knows is refused."""


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
        return self._read(arguments)

    def _read(self, arguments: Mapping[str, object]) -> Settings:
        given = {name: value for name, value in arguments.items() if value is not None}
        layers = [_Layer("command line", given, strict=True), *self._layers()]
        if self.complete:
            self._refuse_unknown(layers)
        values: dict[str, Any] = {}
        for layer in reversed(layers):
            values |= layer.values
        return self._validated(values)

    def given(self, **values: object) -> Settings:
        """Settings of these values and defaults alone, whatever the environment says."""
        self._refuse_unknown([_Layer("given", values, strict=True)])
        return self._validated(values)

    def origins(self, settings: Settings) -> Iterator["Origin"]:
        """Where each effective value came from, the server's settings first."""
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
        for field, info in section.model_fields.items():
            yield names[field], info, getattr(one, field), getattr(other, field)


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
