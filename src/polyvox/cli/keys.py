"""`polyvox keys`: keys for callers of a server, directly in their file, also while servers run."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from polyvox.service.keys.record import KeyRecord
    from polyvox.service.keys.store import KeyStore

app = typer.Typer(help="Make keys for callers of a server, with scopes and limits.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of the key, shown in metrics and usage.")]
DataDir = Annotated[Path | None, typer.Option(help="Folder of registered voices, which also has the file of keys.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Scopes = Annotated[
    list[str] | None, typer.Option("--scope", help="speak, voices or admin; may be given several times.")
]
Requests = Annotated[int | None, typer.Option("--requests-a-minute", min=0, help="Requests for speech; 0: no limit.")]
Streams = Annotated[int | None, typer.Option("--streams", min=0, help="Streams at once; 0: no limit.")]
Characters = Annotated[int | None, typer.Option("--characters-a-day", min=0, help="Characters spoken; 0: no limit.")]
Audio = Annotated[int | None, typer.Option("--audio-seconds-a-day", min=0, help="Seconds of audio; 0: no limit.")]


@app.command()
def create(
    name: Name,
    scope: Scopes = None,
    requests_a_minute: Requests = None,
    streams: Streams = None,
    characters_a_day: Characters = None,
    audio_seconds_a_day: Audio = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, once: only a hash of it is stored. Without --scope it may speak."""
    from polyvox.service.keys.record import Limits, Scope

    given = _limits(requests_a_minute, streams, characters_a_day, audio_seconds_a_day)
    made = _store(data_dir).create(name, scope or [Scope.SPEAK], Limits(**given))
    if as_json:
        print(json.dumps({"key": made.secret} | _fields(made.record)))
        return
    print(made.secret)


@app.command("list")
def list_keys(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the keys with their scopes and limits."""
    records = list(_store(data_dir).records().values())
    if as_json:
        print(json.dumps([_fields(record) for record in records]))
        return
    for record in records:
        limits = " ".join(f"{kind}={most}" for kind, most in asdict(record.limits).items() if most)
        state = "revoked" if record.revoked is not None else ",".join(sorted(record.scopes))
        print(f"{record.name}\t{state}\t{limits or 'no limits'}")


@app.command()
def change(
    name: Name,
    scope: Scopes = None,
    requests_a_minute: Requests = None,
    streams: Streams = None,
    characters_a_day: Characters = None,
    audio_seconds_a_day: Audio = None,
    data_dir: DataDir = None,
) -> None:
    """Change scopes or limits of a key; those that are not given stay. Running servers follow in about a second."""
    given = _limits(requests_a_minute, streams, characters_a_day, audio_seconds_a_day)
    _store(data_dir).change(name, scope or None, given)


@app.command()
def revoke(name: Name, data_dir: DataDir = None) -> None:
    """End a key for good. Running servers refuse it after about a second."""
    _store(data_dir).revoke(name)


def _store(data_dir: Path | None) -> "KeyStore":
    from polyvox.installation import load_settings
    from polyvox.service.keys.accounts import key_store

    return key_store(load_settings(data_dir=data_dir))


def _limits(
    requests_a_minute: int | None, streams: int | None, characters_a_day: int | None, audio_seconds_a_day: int | None
) -> dict[str, int]:
    given = {
        "requests_a_minute": requests_a_minute,
        "streams": streams,
        "characters_a_day": characters_a_day,
        "audio_seconds_a_day": audio_seconds_a_day,
    }
    return {kind: most for kind, most in given.items() if most is not None}


def _fields(record: "KeyRecord") -> dict[str, Any]:
    return {
        "name": record.name,
        "scopes": sorted(record.scopes),
        "limits": asdict(record.limits),
        "created": int(record.created),
        "revoked": None if record.revoked is None else int(record.revoked),
    }
