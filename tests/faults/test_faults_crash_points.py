"""Every place that writes, killed before and after each write, rename, sync and commit.

What was acknowledged before is there, what was not is whole or absent, the same can be done again, and in the end no
file is left that nobody knows. `make test` tries one point of each kind, `make attack` all of them.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from helpers.crash_points import first_of_each_kind, points_of
from helpers.fakes import tone_settings
from helpers.voice_samples import registration
from polyvox.books.manuscript import Chapter, Manuscript
from polyvox.books.narration.narration import Narration
from polyvox.books.narration.options import NarrationOptions
from polyvox.errors import ConflictError, NotFoundError, UnavailableError
from polyvox.service.cache.speech_cache import SpeechCache
from polyvox.service.cache.speech_key import SpeechKey
from polyvox.service.jobs.record import JobOutput, JobRecord, JobStatus
from polyvox.service.jobs.store import JobStore
from polyvox.service.keys.record import Limits
from polyvox.service.keys.store import KeyStore
from polyvox.service.keys.usage import Usage
from polyvox.service.pronunciation import dictionaries
from polyvox.service.telemetry.metrics import Metrics
from polyvox.text.dictionary.entries import Dictionary, DictionaryEntry, EntryKind
from polyvox.types import AudioChunk
from polyvox.voices.records import VoiceQuery
from polyvox.voices.storage.store import FileVoiceStore
from polyvox.voices.style_packs import PACK_SHAPE, PackFiles

DAY = "2026-01-01"
NO_LIMITS = Limits()
LONG_AGO = 1_000_000.0
"""Seconds after which whatever a killed process left may be cleared away."""


@dataclass(frozen=True)
class Store:
    """A place that writes.

    `begin` is acknowledged before the crash, `change` is what dies. `check` holds what is there against both, given
    whether the change was acknowledged, and leaves the store as it is. `tidy` is the store's own upkeep.
    """

    begin: Callable[[Path], object]
    change: Callable[[Path], object]
    check: Callable[[Path, bool], None]
    files: Callable[[Path], set[str]]
    tidy: Callable[[Path], object] = lambda _: None


def is_either(found: object, before: object, after: object, *, done: bool) -> None:
    """Hold what is found against what was there before a change and after it."""
    assert found == after or (not done and found == before), f"{found} is neither whole nor absent"


def listed(folder: Path, *ignored: str) -> set[str]:
    """The files below a folder, but for those that come and go with a database."""
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in names if not name.endswith(("-wal", "-shm", "-journal", *ignored))}


def keys(folder: Path) -> KeyStore:
    return KeyStore(folder / "keys.sqlite")


def check_keys(folder: Path, done: bool) -> None:
    assert keys(folder).required, "a server with keys became open"
    names = {record.name for record in keys(folder).records().values()}
    is_either(names, {"one"}, {"one", "two"}, done=done)


def check_first_key(folder: Path, done: bool) -> None:
    try:
        names = {record.name for record in keys(folder).records().values()}
    except UnavailableError:
        assert not done
        return  # a file without tables: shut, until the key is made again
    is_either(names, set(), {"one"}, done=done)
    assert keys(folder).required or not names


def check_revoked(folder: Path, done: bool) -> None:
    assert keys(folder).required
    (record,) = keys(folder).records().values()
    is_either(record.revoked is not None, False, True, done=done)


def make_key(folder: Path, name: str) -> None:
    with suppress(ConflictError):  # made already, by the process that was killed just behind it
        keys(folder).create(name, ["speak"], NO_LIMITS)


def revoke_key(folder: Path) -> None:
    with suppress(NotFoundError):  # revoked already, by the process that was killed just behind it
        keys(folder).revoke("one")


def add_usage(folder: Path) -> None:
    keys(folder).add_usage({("one", DAY): Usage(1, 10, 1.0, 0)})


def begin_usage(folder: Path) -> None:
    make_key(folder, "one")
    add_usage(folder)


def check_usage(folder: Path, done: bool) -> None:
    used = keys(folder).usage(DAY)["one", DAY]
    assert used.values in {tuple(count * each for each in (1, 10, 1.0, 0)) for count in (1, 2, 3)}
    assert used.requests >= 1 + done


def job(number: int) -> JobRecord:
    return JobRecord(f"job_{number:032x}", "anna", "", 1.0, 50.0, JobOutput())


def add_job(folder: Path, number: int) -> None:
    """What the service does with a manuscript."""
    store = JobStore(folder)
    store.remove(job(number).id)  # what is left of one that was not made whole
    if store.find(job(number).id) is None:
        lock = store.add(job(number), 5)
        manuscript = Manuscript("", "", "en", None, (Chapter("", ("One. Two.",)),))
        Narration.create(store.folder(job(number).id) / "narration", manuscript, NarrationOptions())
        store.change(job(number).id, (JobStatus.CREATING,), partial(replace, status=JobStatus.QUEUED))
        lock.close()
    store.close()


def check_jobs(folder: Path, done: bool) -> None:
    store = JobStore(folder)
    queued = {record.id for record in store.among((JobStatus.QUEUED,))}
    is_either(queued, {job(1).id}, {job(1).id, job(2).id}, done=done)
    for job_id in queued:
        assert Narration.open(store.folder(job_id) / "narration").progress.sentences == 2
    store.close()


def tidy_jobs(folder: Path) -> None:
    store = JobStore(folder)
    for record in store.among((JobStatus.CREATING, JobStatus.DELETED)):
        assert store.remove(record.id)
    store.close()


def dictionary(say: str) -> Dictionary:
    return Dictionary("names", (DictionaryEntry(EntryKind.WORD, "Anna", say),))


def write_dictionary(folder: Path, say: str) -> None:
    dictionaries._write(folder / "names.json", dictionary(say))


def check_dictionary(folder: Path, done: bool) -> None:
    found = dictionaries._parsed(folder / "names.json")
    is_either(found, dictionary("Ahna"), dictionary("Enna"), done=done)


def cache(folder: Path) -> SpeechCache:
    settings = tone_settings(speech_cache_bytes=10_000_000, speech_cache_folder=folder)
    return SpeechCache(settings, Metrics())


def cached(folder: Path, name: str, value: float) -> None:
    store = cache(folder)
    chunk = AudioChunk(np.full(100, value, np.float32), 24_000, 0, 0, "one")
    store._write(store._path(SpeechKey(name * 64, ())), [chunk], ())


def check_cache(folder: Path, done: bool) -> None:
    store = cache(folder)
    found = {name for name in "ab" if store._opened(store._path(SpeechKey(name * 64, ()))) is not None}
    is_either(found, {"a"}, {"a", "b"}, done=done)


def write_pack(folder: Path) -> None:
    PackFiles(folder).write(np.zeros(PACK_SHAPE, np.float32))


def voices(folder: Path) -> FileVoiceStore:
    return FileVoiceStore(folder)


def add_voice(folder: Path, name: str, seed: int) -> None:
    store = voices(folder)
    store.add(registration(name, seed), replacing=True)
    store.close()


def check_voices(folder: Path, done: bool) -> None:
    store = voices(folder)
    found = store.page(VoiceQuery(limit=10)).voices
    is_either({voice.name for voice in found}, {"one"}, {"one", "two"}, done=done)
    for voice in found:
        store.recording(voice)  # which checks the hash
    store.close()


def tidy_voices(folder: Path) -> None:
    store = voices(folder)
    store.sweep()
    store.update_sidecars()
    store.close()


def packs_are_whole(folder: Path, done: bool) -> None:
    sizes = {path.stat().st_size for path in folder.glob("*.safetensors")}
    assert len(sizes) == 1
    assert len(list(folder.glob("*.safetensors"))) >= 1 + done


def aged(folder: Path) -> None:
    """Let files under way be so old that no process can still be writing them."""
    for path in folder.rglob("*"):
        if path.is_file() and (path.name.startswith(".") or path.suffix != ".speech"):
            os.utime(path, (time.time() - LONG_AGO, time.time() - LONG_AGO))


STORES = {
    "keys: the first": Store(lambda _: None, partial(make_key, name="one"), check_first_key, listed),
    "keys: another": Store(partial(make_key, name="one"), partial(make_key, name="two"), check_keys, listed),
    "keys: revoke": Store(partial(make_key, name="one"), revoke_key, check_revoked, listed),
    "usage": Store(begin_usage, add_usage, check_usage, listed),
    "jobs": Store(partial(add_job, number=1), partial(add_job, number=2), check_jobs, listed, tidy_jobs),
    "dictionaries": Store(
        partial(write_dictionary, say="Ahna"),
        partial(write_dictionary, say="Enna"),
        check_dictionary,
        listed,
        partial(write_dictionary, say="Enna"),
    ),
    "cache": Store(
        partial(cached, name="a", value=0.1),
        partial(cached, name="b", value=0.2),
        check_cache,
        listed,
        lambda folder: cache(folder)._trim(0),
    ),
    "packs": Store(
        write_pack,
        write_pack,
        packs_are_whole,
        lambda folder: {path.suffix for path in folder.iterdir()},
        lambda folder: PackFiles(folder).sweep({path.stem for path in folder.glob("*.safetensors")}),
    ),
    "voices": Store(
        partial(add_voice, name="one", seed=1),
        partial(add_voice, name="two", seed=2),
        check_voices,
        lambda folder: {Path(name).suffix for name in listed(folder)},
        tidy_voices,
    ),
}


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a killed process leaves the same behind there."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        yield Path(folder)


@pytest.mark.parametrize("name", STORES)
def test_a_store_killed_at_any_point_keeps_what_it_acknowledged(name: str, memory_folder: Path, scale: int) -> None:
    store = STORES[name]

    def begun(number: int | str) -> Path:
        folder = memory_folder / str(number)
        folder.mkdir()
        store.begin(folder)
        return folder

    whole = begun("whole")
    points = points_of(lambda: store.change(whole), whole)
    store.check(whole, True)
    store.tidy(whole)
    for point in range(len(points)) if scale > 1 else first_of_each_kind(points):
        folder = begun(point)
        assert points_of(lambda folder=folder: store.change(folder), folder, point) == points[:point]
        store.check(folder, False)
        store.change(folder)
        store.check(folder, True)
        aged(folder)
        store.tidy(folder)
        store.check(folder, True)
        assert store.files(folder) == store.files(whole), f"left over by a crash {points[point]}"
    print(json.dumps({"crash_points": len(points)}))
