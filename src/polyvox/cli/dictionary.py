"""`polyvox dictionary`: pronunciation dictionaries, directly in their folder, also while servers run."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from polyvox.service.pronunciation.dictionaries import Dictionaries
    from polyvox.text.dictionary import Dictionary

T = TypeVar("T")

app = typer.Typer(help="Say how words are pronounced.", no_args_is_help=True)

DataDir = Annotated[Path | None, typer.Option(help="Folder of registered voices and dictionaries.")]
Key = Annotated[str | None, typer.Option(help="API key that owns the dictionary; without one, everyone may use it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(help="Name of the dictionary.")]
Default = Annotated[
    bool | None, typer.Option("--default/--no-default", help="Whether it is used for all requests of its owner.")
]


@app.command("list")
def list_dictionaries(key: Key = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the dictionaries."""
    found = _run(lambda store, owner: store.listed(owner), key, data_dir)
    if as_json:
        rows = [{"name": each.name, "entries": len(each.entries), "default": each.default} for each in found]
        print(json.dumps(rows, ensure_ascii=False))
        return
    for each in found:
        print(f"{each.name}\t{len(each.entries)} entries{' (default)' if each.default else ''}")


@app.command()
def show(
    name: Name,
    pls: Annotated[bool, typer.Option("--pls", help="As a file in W3C's PLS 1.0.")] = False,
    language: Annotated[str, typer.Option("--language", "-l", help="With --pls: the language of the file.")] = "",
    key: Key = None,
    data_dir: DataDir = None,
) -> None:
    """Print a dictionary as JSON, or as a file that other programs read."""
    from polyvox.service.pronunciation.dictionaries import entry_fields
    from polyvox.text.dictionary import write_pls

    found = _run(lambda store, owner: store.get(name, owner), key, data_dir)
    if pls:
        sys.stdout.write(write_pls(found, language.lower()))
        return
    entries = [entry_fields(entry) for entry in found.entries]
    print(json.dumps({"default": found.default, "entries": entries}, ensure_ascii=False, indent=2))


@app.command()
def add(
    name: Name,
    match: Annotated[str, typer.Argument(help="What to find.")],
    say: Annotated[str, typer.Argument(help="What is said.")] = "",
    phonemes: Annotated[str, typer.Option(help="The same in IPA, for models that work with phonemes.")] = "",
    regex: Annotated[bool, typer.Option("--regex", help="What to find is a regular expression.")] = False,
    language: Annotated[str, typer.Option("--language", "-l", help="Only in texts of this language.")] = "",
    case: Annotated[str, typer.Option(help="auto, exact or any: whether capitals count.")] = "auto",
    default: Default = None,
    key: Key = None,
    data_dir: DataDir = None,
) -> None:
    """Add an entry; the dictionary is made where there is none. An entry for the same is replaced."""
    from polyvox.errors import InvalidRequestError
    from polyvox.text.dictionary import CaseRule, Dictionary, DictionaryEntry, EntryKind

    if case not in tuple(CaseRule):
        raise InvalidRequestError(f"{case!r} is no rule; use one of {', '.join(CaseRule)}.", field="case")
    plain = EntryKind.PHRASE if len(match.split()) > 1 else EntryKind.WORD
    entry = DictionaryEntry(EntryKind.REGEX if regex else plain, match, say, phonemes, language, CaseRule(case))

    async def work(store: "Dictionaries", owner: str) -> Dictionary:
        own = {each.name: each for each in await store.listed(owner)}
        before = own.get(name, Dictionary(name))
        same = (entry.kind, entry.match, entry.language)
        kept = tuple(each for each in before.entries if (each.kind, each.match, each.language) != same)
        return await store.put(Dictionary(name, (*kept, entry), before.default if default is None else default), owner)

    print(f"{name} has {len(_run(work, key, data_dir).entries)} entries.")


@app.command("import")
def import_file(
    name: Name,
    file: Annotated[Path, typer.Argument(help="A file in W3C's PLS 1.0, or JSON as `show` prints it.")],
    default: Default = None,
    key: Key = None,
    data_dir: DataDir = None,
) -> None:
    """Make a dictionary from a file, in place of one of the same name."""
    from polyvox.installation import load_settings

    limit = load_settings().max_dictionary_entries
    made = _read(name, file.read_bytes(), limit, default)
    print(f"{name} has {len(_run(lambda store, owner: store.put(made, owner), key, data_dir).entries)} entries.")


@app.command()
def remove(name: Name, key: Key = None, data_dir: DataDir = None) -> None:
    """Delete a dictionary."""
    _run(lambda store, owner: store.remove(name, owner), key, data_dir)


def _read(name: str, data: bytes, limit: int, default: bool | None) -> "Dictionary":
    from polyvox.errors import InvalidRequestError
    from polyvox.service.pronunciation.dictionaries import dictionary_of
    from polyvox.text.dictionary import Dictionary, read_pls

    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return Dictionary(name, read_pls(data, limit), bool(default))
    try:
        found = dictionary_of(name, json.loads(data))
    except (ValueError, KeyError, TypeError) as error:
        message = f"The file is neither PLS nor a dictionary in JSON: {error}."
        raise InvalidRequestError(message, field="file") from error
    return Dictionary(name, found.entries, found.default if default is None else default)


def _run(work: "Callable[[Dictionaries, str], Awaitable[T]]", key: str | None, data_dir: Path | None) -> T:
    """Do something with the dictionaries of an owner."""
    from polyvox.api.middleware.auth import owner_of
    from polyvox.installation import load_settings
    from polyvox.service.keys.access import OperatorAccess
    from polyvox.service.pronunciation.dictionaries import Dictionaries
    from polyvox.voices.records import SHARED_OWNER

    settings = load_settings(data_dir=data_dir)

    async def done() -> T:
        store = Dictionaries(settings, OperatorAccess())
        try:
            return await work(store, SHARED_OWNER if key is None else owner_of(key))
        finally:
            await store.close()

    return asyncio.run(done())
