"""`polyvox voices`: the voices of a model, and registered voices."""

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from polyvox.config import Settings

app = typer.Typer(help="List the voices of a model, or manage your own.", invoke_without_command=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DataDir = Annotated[Path | None, typer.Option(help="Folder of registered voices.")]
ModelsDir = Annotated[Path | None, typer.Option(help="Folder of installed models.")]
Key = Annotated[str | None, typer.Option(help="API key that owns the voice; without one, everyone may use it.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace voices of the same name.")]
Registered = Annotated[str, typer.Argument(metavar="VOICE", help="Name or id of a registered voice.")]


@app.callback()
def voices(
    context: typer.Context,
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="Only voices of this language: en, en-gb, zh ...")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Model whose voices to list.")] = None,
    as_json: AsJson = False,
) -> None:
    if context.invoked_subcommand is not None:
        return
    from polyvox.engines.catalog import Catalog
    from polyvox.errors import InvalidRequestError
    from polyvox.installation import load_settings

    settings = load_settings()
    name = model or settings.default_model
    every = Catalog.installed().spec(name).make(name, settings).voices
    found = [voice for voice in every if language is None or _speaks(voice.language, language)]
    if not found:
        spoken = ", ".join(sorted({voice.language for voice in every}))
        raise InvalidRequestError(
            f"The model {name!r} has no voice for {language!r}; choose one of {spoken}.", field="language"
        )
    if as_json:
        _print_json([asdict(voice) for voice in found])
        return
    columns = ("id", "name", "language", "gender")
    _print_table(("voice", *columns[1:]), [[getattr(voice, column) for column in columns] for voice in found])


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Name of the voice.")],
    file: Annotated[Path, typer.Argument(help="Recording of a speaker.")],
    transcript: Annotated[
        str | None, typer.Option("--transcript", "-t", help="Transcript of the recording; transcribed if not given.")
    ] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="Language spoken: en, zh ...")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag to find it by; repeat for more.")] = None,
    consent: Annotated[bool, typer.Option("--consent", help="The speaker has agreed to the cloning.")] = False,
    consent_note: Annotated[str | None, typer.Option(help="How and when consent was given.")] = None,
    replace: Replace = False,
    key: Key = None,
    data_dir: DataDir = None,
    models_dir: ModelsDir = None,
    as_json: AsJson = False,
) -> None:
    """Register a voice from a recording."""
    from polyvox.cli.voices.registered_voices import described, owner_named, register
    from polyvox.voices.records import VoiceDetails

    settings = _settings(data_dir, models_dir)
    details = VoiceDetails.checked(
        name=name, transcript=transcript, language=language, tags=tag, consent=consent, consent_note=consent_note
    )
    registered = register(settings, file, details, owner_named(key), replacing=replace)
    if as_json:
        _print_json(described(registered.record) | {"warnings": list(registered.warnings)})
        return
    for warning in (*registered.record.report["warnings"], *registered.warnings):
        print(f"warning: {warning}", file=sys.stderr)
    _print_facts(described(registered.record))


@app.command()
def fit(
    clip: Annotated[Path, typer.Argument(help="Recording of a speaker, some seconds long.")],
    name: Annotated[str, typer.Option("--name", "-n", help="Name of the voice.")],
    consent: Annotated[bool, typer.Option("--consent", help="The speaker has agreed to the cloning.")] = False,
    consent_note: Annotated[str | None, typer.Option(help="How and when consent was given.")] = None,
    transcript: Annotated[str | None, typer.Option("--transcript", "-t", help="Transcript of the recording.")] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="Language to speak: en, en-gb ...")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag to find it by; repeat for more.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives a slightly different voice.")] = 0,
    key: Key = None,
    data_dir: DataDir = None,
    models_dir: ModelsDir = None,
    as_json: AsJson = False,
) -> None:
    """Fit a voice of a model to a recording; takes some minutes."""
    from polyvox.cli.voices import fitting
    from polyvox.cli.voices.registered_voices import described, owner_named
    from polyvox.voices.records import VoiceDetails

    details = VoiceDetails.checked(
        name=name, transcript=transcript, language=language, tags=tag, consent=consent, consent_note=consent_note
    )
    record = described(fitting.fit(_settings(data_dir, models_dir), clip, details, owner_named(key), seed))
    if as_json:
        _print_json(record)
    else:
        _print_facts(record)


@app.command("list")
def list_registered(
    search: Annotated[str, typer.Option("--search", "-s", help="Part of the name.")] = "",
    tag: Annotated[str, typer.Option(help="Only voices with this tag.")] = "",
    language: Annotated[str, typer.Option("--language", "-l", help="Only voices of this language.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the registered voices of all owners."""
    from polyvox.cli.voices.registered_voices import described, listed
    from polyvox.voices.records import VoiceQuery

    query = VoiceQuery(text=search, tag=tag, language=language, newest_first=False, limit=sys.maxsize >> 1)
    records, unclaimed = listed(_settings(data_dir), query)
    found = [described(record) for record in records]
    if unclaimed:
        print(
            f"warning: the database does not know {unclaimed} of the recordings; run: polyvox voices repair --dry-run",
            file=sys.stderr,
        )
    if as_json:
        _print_json(found)
        return
    if not found:
        print(
            "No registered voice matches; add one with: polyvox voices add NAME FILE. "
            "`polyvox voices` lists those of a model.",
            file=sys.stderr,
        )
        return
    rows = [
        (voice["name"], voice["language"], f"{voice['duration']:.1f} s", ", ".join(voice["tags"]), voice["id"])
        for voice in found
    ]
    _print_table(("name", "language", "length", "tags", "id"), rows)


@app.command()
def show(voice: Registered, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show the details of a voice."""
    from polyvox.cli.voices.registered_voices import described, found, opened

    with opened(_settings(data_dir)) as store:
        record = described(found(store, voice))
    if as_json:
        _print_json(record)
    else:
        _print_facts(record)


@app.command()
def rename(
    voice: Registered, name: Annotated[str, typer.Argument(help="The new name.")], data_dir: DataDir = None
) -> None:
    """Rename a voice."""
    from polyvox.cli.voices.registered_voices import found, opened
    from polyvox.voices.names import voice_name

    with opened(_settings(data_dir)) as store:
        record = found(store, voice)
        store.update(record.id, {"name": voice_name(name)})
    print(f"{record.name} is renamed to {voice_name(name)}.")


@app.command()
def remove(
    voices: Annotated[list[str], typer.Argument(metavar="VOICE...", help="Names or ids of registered voices.")],
    data_dir: DataDir = None,
) -> None:
    """Delete voices with their recordings and everything made of them."""
    from polyvox.cli.voices.registered_voices import opened, removed

    settings = _settings(data_dir)
    with opened(settings) as store:
        for voice in voices:
            gone = removed(store, settings, voice)
            recording = "with its recording" if gone["audio"] else "but not its recording, which another voice shares"
            print(f"{gone['name']} is removed, {recording}; prepared voices removed: {gone['prepared']}.")


@app.command()
def erase(
    voice: Registered,
    archive: Annotated[
        Path | None, typer.Option("--export", help="Write the voice and its recording to this file first.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Delete a person's voice with everything made of it: all voices of the recording, speech, books, consents."""
    from polyvox.cli.voices.erasure import erase as erased

    if not yes:
        typer.confirm(f"Delete {voice}, every voice of the same recording, and all speech made with them?", abort=True)
    gone = erased(_settings(data_dir), voice, archive)
    if as_json:
        _print_json(asdict(gone))
        return
    print(f"Erased {', '.join(gone.voices)}, with the recording.")
    counted = {"prepared voices": gone.prepared, "cached answers": gone.speech, "jobs": len(gone.jobs)}
    counted |= {"manifests": gone.manifests, "consents": gone.consents}
    print("; ".join(f"{name}: {count}" for name, count in counted.items()) + ".")
    if not gone.whole:
        print("Servers that run drop it within a minute, by a note of its hash, which goes when no cache can hold it.")


@app.command()
def consents(
    voice: Annotated[str | None, typer.Argument(metavar="[VOICE]", help="Only those of this voice.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List what was said of consent: when, by whom, of which recording."""
    from polyvox.cli.voices.registered_voices import found, opened
    from polyvox.service.voices.consent import consent_record

    settings, recording = _settings(data_dir), None
    if voice is not None:
        with opened(settings) as store:
            recording = found(store, voice).audio_digest
    entries = [asdict(entry) for entry in consent_record(settings).entries(recording)]
    if as_json:
        _print_json(entries)
        return
    columns = ("at", "owner", "client", "voice", "recording", "stated", "note")
    _print_table(columns, [[_consent_cell(name, entry[name]) for name in columns] for entry in entries])


def _consent_cell(column: str, value: object) -> str:
    if column == "at":
        return time.strftime("%Y-%m-%d %H:%M", time.gmtime(float(str(value))))
    if column == "stated":
        return "yes" if value else "no"
    return str(value)[:12] if column == "recording" else str(value)


@app.command()
def compare(
    one: Annotated[str, typer.Argument(metavar="A", help="A registered voice, or a file with a recording.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    data_dir: DataDir = None,
    models_dir: ModelsDir = None,
    as_json: AsJson = False,
) -> None:
    """Compare two voices by speaker similarity."""
    from polyvox.cli.voices.registered_voices import embedding_of
    from polyvox.voices.recognition.similarity import SAME_SPEAKER, similarity

    settings = _settings(data_dir, models_dir)
    likeness = similarity(embedding_of(settings, one), embedding_of(settings, other))
    same = likeness >= SAME_SPEAKER
    if as_json:
        _print_json({"similarity": round(likeness, 4), "same_speaker": same})
        return
    verdict = "probably one speaker" if same else "probably two speakers"
    print(f"{likeness:.2f}: {verdict} (the threshold is {SAME_SPEAKER:g}).")


@app.command()
def export(
    voices: Annotated[list[str] | None, typer.Argument(metavar="[VOICE]...", help="Voices; all if none.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")] = Path("voices.zip"),
    data_dir: DataDir = None,
) -> None:
    """Write voices with their recordings to one file."""
    from polyvox.cli.voices.registered_voices import export, opened

    with opened(_settings(data_dir)) as store:
        count = export(store, voices or (), output)
    print(f"{output} holds {count} {'voice' if count == 1 else 'voices'}.")


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="File written by `export`.")],
    replace: Replace = False,
    key: Key = None,
    data_dir: DataDir = None,
    models_dir: ModelsDir = None,
) -> None:
    """Register the voices of an exported file."""
    from polyvox.cli.voices.registered_voices import import_voices, opened, owner_named

    settings = _settings(data_dir, models_dir)
    with opened(settings, make=True) as store:
        names = import_voices(store, settings, file, owner_named(key), replacing=replace)
    print(f"Registered {', '.join(names) or 'nothing: the file holds no voices'}.")


@app.command("import-packs")
def import_packs(
    folder: Annotated[Path, typer.Argument(help="Folder with .pt voice packs of Kokoro's, or one such file.")],
    replace: Replace = False,
    key: Key = None,
    data_dir: DataDir = None,
    models_dir: ModelsDir = None,
) -> None:
    """Keep the voice packs of a folder as voices; each is named as its file."""
    from polyvox.cli.voices import registered_voices as registered

    settings = _settings(data_dir, models_dir)
    failed = False
    for name, reason in registered.import_packs(settings, folder, registered.owner_named(key), replacing=replace):
        print(f"{name}: {reason or 'imported'}", file=sys.stderr if reason else sys.stdout)
        failed = failed or bool(reason)
    if failed:
        raise typer.Exit(1)


@app.command()
def copy(
    target: Annotated[str, typer.Argument(help="shared: from the folder to voice_database; folder: back.")],
    data_dir: DataDir = None,
) -> None:
    """Copy all voices between this machine's folder and the shared store."""
    from polyvox.cli.voices.registered_voices import copied
    from polyvox.errors import InvalidRequestError

    if target not in ("shared", "folder"):
        raise InvalidRequestError("Copy to 'shared' or to 'folder'.", field="target")
    names = copied(_settings(data_dir), to_folder=target == "folder")
    print(f"Copied {len(names)} {'voice' if len(names) == 1 else 'voices'}; those that were there are as they were.")


@app.command()
def repair(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    key: Annotated[
        str | None, typer.Option(help="API key that gets the recordings of which nothing else is known.")
    ] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Let everyone use the recordings of which nothing else is known.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Register recordings again that the database does not know."""
    from polyvox.cli.voices.registered_voices import repaired

    database, rows = repaired(_settings(data_dir), key, shared=shared, dry_run=dry_run)
    if as_json:
        _print_json({"database": database, "dry_run": dry_run, "recordings": rows})
        return
    if database != "sound":
        print(f"The database is {database}; {'it would be' if dry_run else 'it was'} made anew.")
    if not rows:
        print("Every recording belongs to a voice.")
        return
    columns = ("action", "name", "owner", "length", "recording", "note")
    _print_table(columns, [[row[column] for column in columns] for row in rows])


def _settings(data_dir: Path | None, models_dir: Path | None = None) -> "Settings":
    """The settings, with only errors logged: a command prints its own messages."""
    from polyvox.installation import load_settings
    from polyvox.service.telemetry.logs import configure_logging

    settings = load_settings(data_dir=data_dir, models_dir=models_dir, log_level="error", log_format="console")
    configure_logging(settings)
    return settings


def _speaks(tag: str, wanted: str) -> bool:
    """Return whether a voice's tag is the wanted one or a region of it."""
    wanted = wanted.lower().replace("_", "-")
    return tag == wanted or tag.startswith(f"{wanted}-")


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def _print_table(columns: Sequence[str], rows: Iterable[Iterable[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), show_header=any(columns))
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def _print_facts(facts: Mapping[str, Any]) -> None:
    shown = [(name, value) for name, value in facts.items() if value not in (None, "", [], {})]
    rows = [(name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) for name, value in shown]
    _print_table(("", ""), rows)
