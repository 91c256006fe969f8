"""Caches hold what fits, for as long as it may, and the least used goes first."""

import os
import stat
from collections import Counter

import numpy as np
import pytest

from polyvox.types import PreparedVoice
from polyvox.voices.cache import BoundedCache, PreparedVoiceFiles
from polyvox.voices.storage.recordings import prompt_digest


class Bench:
    """A clock that stands until it is moved, and a tally of what the caches report."""

    def __init__(self):
        self.now = 1_000.0
        self.events = Counter()

    def clock(self):
        return self.now

    def observe(self, kind, event):
        self.events[kind, str(event)] += 1


@pytest.fixture
def bench():
    return Bench()


@pytest.fixture
def cache(bench):
    return BoundedCache("url", max_bytes=100, max_age=60.0, observer=bench.observe, clock=bench.clock)


def prepared(seed, engine="tone", size=1_000):
    audio = f"{seed:064x}"
    return PreparedVoice(engine, prompt_digest(audio, "text"), {"features": np.full(size, seed, np.float32)})


@pytest.fixture
def files(tmp_path, bench):
    return PreparedVoiceFiles(
        tmp_path / "prepared", max_bytes=10_000, max_age=60.0, observer=bench.observe, clock=lambda: bench.now
    )


def test_what_was_put_is_found_and_counted(cache, bench):
    assert cache.get("a") is None
    cache.put("a", "one", 10)
    assert cache.get("a") == "one"
    assert (len(cache), cache.nbytes) == (1, 10)
    assert bench.events == {("url", "hit"): 1, ("url", "miss"): 1}


def test_the_least_recently_used_makes_room(cache, bench):
    for key in "abc":
        cache.put(key, key, 33)
    cache.get("a")
    cache.put("d", "d", 30)
    assert [cache.get(key) for key in "abcd"] == ["a", None, "c", "d"]
    assert cache.nbytes == 96
    assert bench.events["url", "eviction"] == 1


def test_the_bytes_never_pass_the_bound(cache):
    for number in range(50):
        cache.put(str(number), number, number % 40)
        assert cache.nbytes <= 100


def test_a_value_larger_than_the_cache_is_not_kept_and_pushes_nothing_out(cache):
    cache.put("a", "one", 10)
    cache.put("big", "two", 101)
    assert cache.get("big") is None
    assert cache.get("a") == "one"


def test_a_value_put_again_counts_once(cache):
    cache.put("a", "one", 60)
    cache.put("a", "two", 60)
    assert (cache.get("a"), cache.nbytes) == ("two", 60)


def test_age_counts_from_the_putting_and_use_does_not_extend_it(cache, bench):
    cache.put("a", "one", 10)
    bench.now += 59.0
    assert cache.get("a") == "one"
    bench.now += 2.0
    assert cache.get("a") is None
    assert (len(cache), cache.nbytes) == (0, 0)
    assert bench.events["url", "eviction"] == 1


def test_what_nobody_asks_for_goes_as_well(cache, bench):
    cache.put("a", "one", 10)
    bench.now += 30.0
    cache.put("b", "two", 10)
    bench.now += 31.0
    cache.expire()
    assert (len(cache), cache.nbytes) == (1, 10)


def test_removing_says_how_many(cache):
    for key in "abc":
        cache.put(key, f"value {key}", 10)
    assert cache.remove(lambda key, value: value == "value b") == 1
    assert cache.remove(lambda key, value: True) == 2
    assert (len(cache), cache.nbytes) == (0, 0)


def test_a_cache_without_bytes_keeps_nothing(bench):
    none = BoundedCache("url", max_bytes=0, max_age=60.0, observer=bench.observe)
    none.put("a", "one", 1)
    assert none.get("a") is None


def test_prepared_voices_come_back_from_the_disk_as_they_were(files, bench):
    voice = PreparedVoice(
        "tone",
        prompt_digest("a" * 64, "text"),
        {"tokens": np.arange(5), "features": np.eye(3, dtype=np.float32), "flag": np.array(True)},
    )
    assert files.read("tone", voice.digest) is None
    files.write(voice)
    found = files.read("tone", voice.digest)
    assert (found.engine, found.digest) == ("tone", voice.digest)
    assert found.arrays.keys() == voice.arrays.keys()
    for name, array in voice.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert np.array_equal(found.arrays[name], array)
    assert files.read("other", voice.digest) is None
    assert bench.events["prepared_disk", "hit"] == 1


def test_objects_are_never_written(files):
    voice = PreparedVoice("tone", prompt_digest("a" * 64, ""), {"odd": np.array([{}], dtype=object)})
    with pytest.raises(ValueError, match="object arrays"):
        files.write(voice)


def test_a_pickle_in_the_folder_is_not_opened(files, tmp_path):
    voice = prepared(1)
    files.write(voice)
    (path,) = (tmp_path / "prepared").rglob("*.npz")
    with path.open("wb") as target:
        np.savez(target, features=np.array([{"harm": 1}], dtype=object))
    assert files.read("tone", voice.digest) is None
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"PK", b"nonsense" * 10])
def test_a_damaged_file_is_a_miss_and_goes(files, tmp_path, content):
    voice = prepared(1)
    files.write(voice)
    (path,) = (tmp_path / "prepared").rglob("*.npz")
    path.write_bytes(content)
    assert files.read("tone", voice.digest) is None
    assert not path.exists()


def test_on_disk_too_the_least_recently_used_makes_room(files, tmp_path, bench):
    voices = [prepared(seed) for seed in range(4)]  # each somewhat over 4,000 bytes
    for age, voice in enumerate(voices[:2]):
        files.write(voice)
        (path,) = (tmp_path / "prepared").rglob(f"{voice.digest}*")
        os.utime(path, (bench.now - 20 + age, bench.now - 20 + age))
    files.read("tone", voices[0].digest)
    files.write(voices[2])
    assert files.read("tone", voices[0].digest) is not None
    assert files.read("tone", voices[1].digest) is None
    assert files.read("tone", voices[2].digest) is not None
    assert bench.events["prepared_disk", "eviction"] == 1


def test_old_files_and_what_a_crash_left_behind_go(files, tmp_path, bench):
    files.write(prepared(1))
    folder = next((tmp_path / "prepared").iterdir())
    crashed = folder / ".half.npz.123"
    crashed.write_bytes(b"half")
    bench.now = crashed.stat().st_mtime + 30
    files.trim()
    assert len(list(folder.iterdir())) == 2
    bench.now += 3_600
    files.trim()
    assert list(folder.iterdir()) == []


def test_everything_made_from_one_recording_goes_with_it(files):
    audio = "b" * 64
    for transcript in ("one", "two"):
        for engine in ("tone", "other"):
            files.write(PreparedVoice(engine, prompt_digest(audio, transcript), {"x": np.zeros(1)}))
    files.write(prepared(1))
    assert files.remove(audio, None) == 4
    assert files.clear(None) == 1
    assert files.clear(None) == 0


def test_an_owners_files_are_nobody_elses(files):
    voice = PreparedVoice("tone", prompt_digest("0" * 64, "x"), {"x": np.zeros(1)})
    for owner in ("", "a", "b"):
        files.write(voice, owner)
    audio = voice.digest.partition("-")[0]
    assert files.remove(audio, "a") == 1
    assert files.read(voice.engine, voice.digest, "a") is None
    assert files.read(voice.engine, voice.digest, "b") is not None
    assert files.clear("b") == 1
    assert files.read(voice.engine, voice.digest) is not None
    assert files.clear("") == 1


@pytest.mark.parametrize(("engine", "digest"), [("../up", "a" * 64 + "-" + "b" * 64), ("tone", "../../etc")])
def test_no_other_path_can_be_named(files, engine, digest):
    with pytest.raises(ValueError, match="named by"):
        files.read(engine, digest)


def test_a_prepared_voice_on_disk_is_for_this_user_alone(files, tmp_path):
    files.write(prepared(1))
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in tmp_path.rglob("*")}
    assert modes == {(True, 0o700), (False, 0o600)}
