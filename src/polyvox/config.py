"""Settings of the server. An engine family or a dialect brings a `SettingsSection` of its own.

`settings_loader.py` reads both from the environment and from files.
"""

import base64
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    IPvAnyNetwork,
    PrivateAttr,
    SecretStr,
    StringConstraints,
)

ENV_PREFIX = "POLYVOX_"
DEFAULT_MODELS = ("wren", "kokoro")
"""Models of a server, command or program that is told none; the first speaks unless a request names another."""


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


def _first_model(values: Mapping[str, object]) -> str:
    """The default model where none is set; empty where `models` is empty or refused."""
    models = values.get("models")
    return str(models[0]) if isinstance(models, list) and models else ""


def _full_decoder(values: Mapping[str, object]) -> str:
    """The model of `tts-1-hd` where none is set: the full decoder, if it is served beside the small one."""
    small, full = DEFAULT_MODELS
    models = values.get("models")
    return full if values.get("default_model") == small and isinstance(models, list) and full in models else ""


_KEY_PREFIX = "whsec_"


def webhook_key(secret: str) -> bytes:
    """The key that a secret of webhooks stands for: the Base64 behind `whsec_`, or the text itself."""
    if not secret.startswith(_KEY_PREFIX):
        return secret.encode()
    encoded = secret.removeprefix(_KEY_PREFIX).rstrip("=")
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except ValueError:
        raise ValueError("what follows whsec_ must be Base64") from None


def _checked_secret(value: SecretStr) -> SecretStr:
    if not webhook_key(value.get_secret_value()):
        raise ValueError("it must not be empty")
    return value


WebhookSecret = Annotated[SecretStr, AfterValidator(_checked_secret)]

VoiceAlias = Annotated[str, StringConstraints(pattern=r"^[^=,]{1,64}=[^=,]{1,200}$")]

CONVENTIONAL_VOICES = (
    "中文女=zf_xiaoxiao",
    "中文男=zm_yunxi",
    "英文女=af_heart",
    "英文男=am_michael",
    "日语男=jm_kumo",
    "粤语女=zf_xiaobei",
    "韩语女=zf_xiaoyi",
)
"""The speakers of CosyVoice's fine-tuned model, which its clients name."""


OPENAI_VOICES = (
    "alloy=am_adam",
    "ash=af_nicole",
    "ballad=bm_george",
    "cedar=am_fenrir",
    "coral=bf_emma",
    "echo=af_bella",
    "fable=af_sarah",
    "marin=af_heart",
    "nova=bf_isabella",
    "onyx=bm_george",
    "sage=am_michael",
    "shimmer=af_sky",
    "verse=am_puck",
)
"""OpenAI's voices: Kokoro-FastAPI's choice for those that it knows."""


def _by_name(aliases: Sequence[str]) -> dict[str, str]:
    return dict(alias.split("=", 1) for alias in aliases)


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
    """The effective settings of one process; immutable. `Loader` makes them from the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Doors
    host: str = Field("127.0.0.1", description="Address to bind; loopback unless you decide otherwise.")
    port: int = Field(8880, ge=0, le=65535, description="Port to bind; 0 takes a free one.")
    workers: int = Field(
        1, ge=1, le=64, description="Processes of doors; several have the models in one more process (Linux)."
    )
    server: Literal["uvicorn", "granian"] = Field(
        "uvicorn", description="What speaks HTTP; granian is written in Rust."
    )
    ssl_certfile: Path | None = Field(
        None, description="Certificate chain in PEM format for https and wss; unset: plain HTTP."
    )
    ssl_keyfile: Path | None = Field(None, description="Its private key in PEM format; unset: it is in `ssl_certfile`.")
    ssl_keyfile_password: SecretStr | None = Field(None, description="Password of the private key, if it has one.")
    grpc_port: int | None = Field(
        None, ge=0, le=65535, description="Port of the gRPC doors; 0 takes a free one, unset: none are opened."
    )
    grpc_max_calls: int = Field(
        0, ge=0, description="Calls for speech at once over gRPC; 0: as many as `max_sessions` and `max_queue` allow."
    )
    wyoming_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port for Wyoming (Home Assistant); 0 takes a free one, unset: none is opened.",
    )
    wyoming_host: str = Field("127.0.0.1", description="Address to bind for Wyoming, which knows no keys.")
    wyoming_allow_without_key: bool = Field(
        False, description="Whether other machines may use Wyoming, which knows no keys."
    )
    wyoming_idle_seconds: float = Field(
        300.0, gt=0, description="How long a Wyoming connection may stay open without a request."
    )
    wyoming_mdns: bool = Field(False, description="Whether the Wyoming port is announced in the network by mDNS.")
    studio: bool = Field(True, description="Whether the Studio answers: `/web`, and `/` for browsers.")
    mcp: bool = Field(False, description="Whether `/mcp` answers: speech as tools for agents, over streamable HTTP.")
    mcp_max_sessions: int = Field(256, ge=1, description="Sessions of MCP clients at once; beyond that 503.")
    mcp_session_seconds: float = Field(1_800.0, gt=0, description="How long such a session may be idle.")
    mcp_max_calls: int = Field(64, ge=1, description="Calls of MCP tools at once, until answered; beyond that 429.")
    mcp_max_chars: int = Field(
        800, ge=1, description="Longest text whose speech an MCP tool returns, in characters; files may be longer."
    )
    mcp_max_audio_bytes: int = Field(
        768_000, ge=1_024, description="Largest audio that an MCP tool returns; many clients read 1 MiB of base64."
    )
    api_keys: CommaList[SecretStr] = Field([], description="Bearer keys; empty means that no key is asked for.")
    keys_file: Path | None = Field(
        None, description="File of the keys of `polyvox keys` and of their usage; unset: `keys.sqlite` in `data_dir`."
    )
    limits_url: SecretStr | None = Field(
        None, description="Redis in which servers count limits together, as `redis://HOST:6379/0`; unset: each its own."
    )
    max_requests_a_minute_per_address: int = Field(
        0, ge=0, description="Requests for speech a minute of one address without a key; 0: no limit."
    )
    max_streams_per_address: int = Field(
        0, ge=0, description="Streams of speech at once of one address without a key; 0: no limit."
    )
    max_characters_a_day_per_address: int = Field(
        0, ge=0, description="Characters that one address without a key may have spoken in a day; 0: no limit."
    )
    max_audio_seconds_a_day_per_address: int = Field(
        0, ge=0, description="Seconds of audio that one address without a key may have in a day; 0: no limit."
    )
    public_lists: bool = Field(
        False, description="Whether the lists of models and of built-in voices are read without a key."
    )
    allowed_hosts: CommaList[str] = Field(
        [], description="Host names by which a server without keys may be called, besides addresses; `*` allows all."
    )
    insecure: bool = Field(
        False, description="Whether other machines may call without keys, by any name unless `allowed_hosts` is set."
    )
    cors_origins: CommaList[str] = Field([], description="Origins allowed by CORS; `*` allows all.")
    max_body_bytes: int = Field(4_194_304, ge=1024, description="Largest request body that is read.")
    max_pending_body_bytes: int = Field(
        134_217_728, ge=1_048_576, description="Memory for all request bodies not yet answered; beyond that 429."
    )
    body_timeout_seconds: float = Field(
        30.0, gt=0, description="How long a body may take to arrive, besides a second for every `body_min_rate` bytes."
    )
    body_min_rate: int = Field(4_096, ge=1, description="Bytes per second at which a long body must arrive at least.")
    max_header_bytes: int = Field(65_536, ge=8_192, description="Longest request line and headers, together.")
    header_timeout_seconds: float = Field(
        20.0, gt=0, description="How long a new connection may take to send its headers."
    )
    keep_alive_seconds: float = Field(5.0, gt=0, description="How long a connection may wait for its next request.")
    max_connections: int = Field(
        2_048, ge=16, description="HTTP connections at once, and as many for gRPC and Wyoming each."
    )
    max_connections_per_address: int = Field(
        256, ge=1, description="HTTP connections at once from one address; loopback and `trusted_proxies` may have all."
    )
    max_sockets_per_client: int = Field(
        256, ge=1, description="WebSockets at once of one key, or of one address without a key."
    )
    socket_idle_seconds: float = Field(
        300.0,
        gt=0,
        description="How long a WebSocket of Polyvox's or Cartesia's API may have no context and send nothing.",
    )
    trusted_proxies: CommaList[IPvAnyNetwork] = Field(
        [], description="Addresses or networks of reverse proxies, which tell in X-Forwarded-For who calls."
    )
    max_input_chars: int = Field(100_000, ge=1, description="Longest text of one request, in characters.")
    max_downloads: int = Field(
        64, ge=0, description="Finished files that may be fetched again by their link; 0: there are no links."
    )
    max_download_bytes: int = Field(67_108_864, ge=0, description="Memory for all such files.")
    download_seconds: float = Field(900.0, gt=0, description="How long such a file can be fetched.")
    enable_debug: bool = Field(False, description="Whether /debug/threads, /debug/storage and /debug/system answer.")
    allow_voice_download: bool = Field(True, description="Whether /v1/audio/voices/combine may return the mixed voice.")

    # Models
    models_dir: Path = Field(
        default_factory=lambda: _cache_home() / "models", description="Folder of installed models."
    )
    models: CommaList[str] = Field(list(DEFAULT_MODELS), description="Models to load when the server starts.")
    max_loaded_models: int = Field(
        2,
        ge=0,
        le=100,
        description="Installed models besides `models` that are loaded when a request names them; 0 loads none so.",
    )
    model_load_seconds: float = Field(
        30.0, gt=0, le=600, description="How long a request waits for its model to load; beyond that the answer is 503."
    )
    model_idle_seconds: float = Field(
        900.0, ge=0, description="How long such a model stays loaded while nobody uses it; 0: until its room is needed."
    )
    allow_pull: bool | None = Field(
        None,
        description="Whether callers may have models fetched by POST /v1/pulls; unless set, only where the server "
        "listens to its own machine and has no `trusted_proxies`.",
    )
    allow_unload: bool = Field(False, description="Whether /dev/unload and /dev/reload may be called.")
    default_model: str = Field(
        default_factory=_first_model,
        description="Model for requests that name none, or name one of OpenAI's; unless set, the first of `models`.",
    )
    hd_model: str = Field(
        default_factory=_full_decoder,
        description="Model for requests that name OpenAI's `tts-1-hd`; empty: the default one. Unless set, `kokoro` "
        "where it is served beside a default `wren`.",
    )
    default_voice: str = Field(
        "af_heart", description="Voice for requests that name none; a model that has only other voices uses its first."
    )
    voice_aliases: CommaList[VoiceAlias] = Field(
        list(CONVENTIONAL_VOICES),
        description="Further names of voices, as `name=voice`; a voice that really has the name goes first.",
    )
    openai_voices: CommaList[VoiceAlias] = Field(
        list(OPENAI_VOICES), description="What OpenAI's voice names stand for, as `name=voice`."
    )
    hub_url: str = Field("https://huggingface.co", description="Hugging Face hub, or a mirror of it.")
    modelscope_url: str = Field("https://modelscope.cn", description="ModelScope's hub, or a mirror of it.")

    # Text
    allow_voice_tags: bool = Field(
        False, description="Whether `[voice:...]` and `[rate:...]` in texts are obeyed where a request does not say."
    )
    refuse_voice_tags: bool = Field(
        False, description="Whether they are never obeyed; a request that asks for them is then answered 403."
    )
    allow_ssml: bool = Field(
        True, description="Whether texts in SSML are obeyed; else their tags are dropped, and `ssml` is 403."
    )
    word_timings: Literal["auto", "estimate", "durations"] = Field(
        "auto",
        description="Times of words with models that have none themselves: by alignment with the audio (`auto`; needs "
        "the model moonshine-base, else as `estimate`), estimated, or none (`durations`).",
    )
    espeak: str = Field(
        "espeak-ng", description="espeak-ng: by default the library of the extra espeak, else this program; or a path."
    )

    # Sessions
    max_sessions: int = Field(32, ge=1, description="Requests that are spoken at once.")
    adaptive_sessions: bool = Field(
        True, description="Whether fewer are spoken at once where more were seen to fall behind playback."
    )
    max_queue: int = Field(64, ge=0, description="Requests that may wait; beyond that the answer is 429.")
    max_wait_seconds: float = Field(
        5.0,
        gt=0,
        description="Longest wait until a request is heard; one that has to expect a longer wait is answered 429.",
    )
    max_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Share of slots and queue that one key or address keeps while another waits, and of MCP's sessions "
        "and calls.",
    )
    side_work_queue: int = Field(
        16, ge=0, description="Requests for phonemes, normalised text or mixed voices that may wait; beyond that: 429."
    )
    side_work_chars: int = Field(
        20_000, ge=1, description="Longest text whose phonemes or normalised form may be asked for, in characters."
    )
    code_blocks: Literal["read", "announce", "skip"] = Field(
        "announce",
        description="Fenced blocks of code in a text: read word by word, announced (read as 'code block'), or skipped.",
    )
    max_pause_seconds: float = Field(
        300.0, ge=0, le=600, description="Longest pauses of one request, all that its text asks for together."
    )
    max_spoken_seconds: float = Field(
        21_600.0, gt=0, description="Longest speech of one request, estimated from its text before it is spoken."
    )
    max_buffered_bytes: int = Field(
        134_217_728,
        ge=1_048_576,
        description="Memory for answers that are sent as a whole and not streamed, of all requests together.",
    )
    session_buffer: int = Field(
        4, ge=1, le=64, description="Chunks that wait for a slow client before its session pauses."
    )
    deadline_seconds: float = Field(600.0, gt=0, description="Longest life of one request.")
    max_contexts_per_connection: int = Field(64, ge=1, description="Most contexts on one WebSocket.")
    stall_seconds: float = Field(60.0, gt=0, description="How long a client may read nothing before it is dropped.")
    drain_seconds: float = Field(30.0, ge=0, description="How long open streams may finish at shutdown.")
    dialogue_max_turns: int = Field(500, ge=1, description="Most turns of one dialogue.")
    dialogue_max_voices: int = Field(8, ge=1, le=64, description="Most voices in one dialogue.")

    batch_max_items: int = Field(64, ge=1, le=1_000, description="Most items of one batch.")
    batch_max_chars: int = Field(100_000, ge=1, description="Longest text of one batch, of all its items together.")
    batch_deadline_seconds: float = Field(
        3_600.0, gt=0, description="Longest life of one batch; what is not spoken by then is an error of its item."
    )
    batch_buffered_bytes: int = Field(
        67_108_864, ge=1_048_576, description="Memory for items of batches that are not sent yet, of all batches."
    )
    max_batches: int = Field(
        8, ge=0, le=1_000, description="Batches at once, half of them for one key or address; 0 allows none."
    )

    # Jobs: whole books and other long texts
    jobs_folder: Path | None = Field(
        None, description="Folder of jobs and their files, on a local disk; unset: `jobs` in `data_dir`."
    )
    max_jobs: int = Field(
        2, ge=0, le=64, description="Jobs that are spoken at once, behind all live requests; 0 takes no jobs."
    )
    verify_jobs: bool = Field(
        False, description="Whether jobs that do not say are heard by a recogniser and mended, sentence by sentence."
    )
    max_jobs_per_owner: int = Field(
        50, ge=1, le=10_000, description="Jobs that one key may keep, finished ones too, or everyone without keys."
    )
    max_manuscript_bytes: int = Field(
        33_554_432, ge=1_024, le=268_435_456, description="Largest text or file of one job, in bytes."
    )
    max_job_bytes: int = Field(
        4_294_967_296, ge=1_048_576, description="Disk space of one job, its speech and its files together."
    )
    job_min_free_bytes: int = Field(
        268_435_456, ge=0, description="Free disk space below which jobs are paused, so that all else goes on."
    )
    job_expiry_seconds: float = Field(
        604_800.0, gt=0, description="How long a job that is done, paused, failed or cancelled is kept."
    )
    job_webhook_hosts: CommaList[str] = Field(
        [], description="Hosts that may be told of the end of a job: `name`, `name:port` or `*.name`; empty: none."
    )
    job_webhook_secret: WebhookSecret | None = Field(
        None,
        description="Secret by which such messages are signed as Standard Webhooks are: `whsec_` and a key of 24 to 64"
        " bytes in Base64, or any text; unset: they are not signed.",
    )
    job_webhook_private: bool = Field(
        False, description="Whether those hosts may have private or loopback addresses, and be called by plain http."
    )

    # Cache of finished speech
    speech_cache_bytes: int = Field(
        0, ge=0, description="Disk space for finished speech that answers the same request again; 0: no cache."
    )
    speech_cache_seconds: float = Field(86_400.0, gt=0, description="How long finished speech is kept there.")
    speech_cache_folder: Path | None = Field(
        None, description="Folder of that cache, for it alone; unset: `speech-cache` in `data_dir`."
    )
    speech_cache_shared: bool = Field(
        False, description="Whether callers with different keys share it where the voice is everybody's."
    )

    # Provenance
    provenance: Literal["off", "tags", "signed"] = Field(
        "tags",
        description="Marks that speech is synthetic: none, tags in files and headers, or tags and a signed manifest.",
    )
    provenance_folder: Path | None = Field(
        None, description="Folder of the signing key and the manifests; unset: `provenance` in `data_dir`."
    )
    provenance_store_bytes: int = Field(
        268_435_456, ge=1_048_576, description="Disk space for signed manifests; beyond it the oldest are deleted."
    )
    provenance_bare_wav: bool = Field(
        False, description="Whether WAV files keep the plain header of 44 bytes; their marks are then in headers only."
    )

    # Reference recordings
    watermark: Literal["none", "perth"] = Field(
        "none", description="Inaudible mark in the samples of all speech; `perth` needs the model of that name."
    )
    consent: Literal["trusted", "asked", "required"] = Field(
        "asked",
        description="What must be said of a recording's speaker: nothing, since you vouch for all recordings "
        "(`trusted`); consent to a fit and to MCP's `clone`, and what is said elsewhere is noted (`asked`); consent to "
        "every recording and every registered voice (`required`).",
    )
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
    listen_max_bytes: int = Field(
        26_214_400, ge=1024, le=33_554_432, description="Largest recording that is transcribed, in bytes."
    )
    listen_max_seconds: float = Field(600.0, gt=0, le=900, description="Longest recording that is transcribed.")
    listen_session_seconds: float = Field(
        14_400.0, gt=0, description="Most sound that one Realtime session listens to; beyond it an error."
    )
    listen_workers: int = Field(
        1, ge=1, le=64, description="Recordings that are transcribed at once, on a thread each."
    )
    listen_queue: int = Field(8, ge=0, description="Recordings that may wait to be transcribed; beyond that: 429.")
    allow_fetch: bool = Field(False, description="Whether reference recordings may be fetched by their URL.")
    fetch_allow_hosts: CommaList[str] = Field(
        [],
        description="Hosts to fetch from: `name`, `name:port` or `*.name`; empty means all, at their standard port.",
    )
    fetch_allow_http: bool = Field(False, description="Whether plain http may be fetched as well as https.")
    fetch_max_bytes: int = Field(10_485_760, ge=1024, description="Largest file that is fetched.")
    fetch_timeout_seconds: float = Field(10.0, gt=0, le=120, description="Longest fetch, redirects included.")

    allow_inline: bool = Field(True, description="Whether requests for speech may carry a reference recording.")
    allow_base64: bool = Field(True, description="Whether they may carry it as base64; uploaded files are no base64.")
    recording_dirs: CommaList[Path] = Field(
        [], description="Folders whose files requests may name by their path as reference recordings; empty: none."
    )

    # Registered voices
    data_dir: Path = Field(default_factory=_data_home, description="Folder of registered voices; on a local disk.")
    voice_database: SecretStr | None = Field(
        None,
        description="PostgreSQL that holds the voices of several servers: `postgresql://user:password@host/name`; "
        "unset: SQLite in `data_dir`. With `voice_objects`, or neither.",
    )
    voice_objects: str | None = Field(
        None,
        description="Bucket that holds their recordings: `s3://bucket/prefix`; unset: files in `data_dir`.",
    )
    voice_objects_endpoint: str | None = Field(
        None, description="Address of an S3-compatible server; unset: `AWS_ENDPOINT_URL_S3`, else Amazon's."
    )
    voice_objects_region: str | None = Field(
        None, description="Region of the bucket; unset: `AWS_REGION`, else us-east-1."
    )
    voice_objects_access_key: SecretStr | None = Field(
        None, description="Access key of the bucket; unset: `AWS_ACCESS_KEY_ID`, else the role of the machine or pod."
    )
    voice_objects_secret_key: SecretStr | None = Field(
        None, description="Its secret; unset: `AWS_SECRET_ACCESS_KEY`, else the role of the machine or pod."
    )
    voice_store_timeout_seconds: float = Field(
        5.0, gt=0, le=60, description="How long one step of that database or bucket may take; then the answer is 503."
    )
    voice_copies_bytes: int = Field(
        1_073_741_824, ge=0, description="Disk space in `data_dir` for local copies of recordings in the bucket."
    )
    max_voices: int = Field(1_000, ge=0, description="Voices that one key may register, or everyone without keys.")
    max_fits: int = Field(4, ge=0, le=100, description="Fits of voices that may run or wait; one runs at a time.")
    max_dictionaries: int = Field(
        100, ge=0, description="Pronunciation dictionaries of one key, or of everyone without keys."
    )
    max_dictionary_entries: int = Field(10_000, ge=0, description="Entries of all dictionaries of one key together.")
    max_dictionary_patterns: int = Field(100, ge=0, description="Regular expressions among these entries.")
    dictionary_seconds: float = Field(
        0.25, gt=0, le=10, description="Longest time for the regular expressions of one text; slower ones are left out."
    )
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
    chunk_log: Path | None = Field(
        None, description="File for one JSON line per chunk of audio: its ranges, the hash of its samples, its times."
    )
    chunk_log_bytes: int = Field(10_485_760, ge=4096, description="Size at which the log of chunks rotates.")
    chunk_log_keep: int = Field(4, ge=1, le=1_000, description="Rotated logs of chunks to keep.")

    # Traces
    otlp_endpoint: str | None = Field(
        None,
        pattern=r"^https?://[^\s]+$",
        description="Base URL of the OpenTelemetry collector for traces, such as http://localhost:4318; unset: as "
        "OTEL_EXPORTER_OTLP_ENDPOINT says, else there are none.",
    )
    trace_sample_ratio: float = Field(
        1.0, ge=0, le=1, description="Share of requests that are traced; one whose caller has decided follows that."
    )

    _sections: dict[str, SettingsSection] = PrivateAttr(default_factory=dict)

    @property
    def aliases(self) -> Mapping[str, str]:
        """`openai_voices` and `voice_aliases` by their names; the latter go first."""
        return {**_by_name(self.openai_voices), **self.own_aliases}

    @property
    def own_aliases(self) -> Mapping[str, str]:
        """`voice_aliases` by their names."""
        return _by_name(self.voice_aliases)

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
