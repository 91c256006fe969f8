"""Files behind download links: bounded, expiring, and each for its owner."""

import pytest

from helpers.tables import each_row
from polyvox.config import Settings
from polyvox.errors import NotFoundError
from polyvox.service.jobs.downloads import Downloads


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def store(clock=None, **settings):
    limits = {"max_downloads": 3, "max_download_bytes": 100, "download_seconds": 60.0}
    return Downloads(Settings(**(limits | settings)), clock or Clock())


def kept(downloads, size, owner="anna"):
    recorder = downloads.record("mp3", "audio/mpeg", owner)
    recorder.write(b"x" * size)
    recorder.finish()
    return recorder.name


def there(downloads, name, owner="anna"):
    try:
        return len(downloads.find(name, owner).data)
    except NotFoundError:
        return None


def test_a_file_exists_when_it_is_complete_and_for_its_owner():
    downloads = store()
    recorder = downloads.record("wav", "audio/wav", "anna")
    recorder.write(b"ab")
    assert there(downloads, recorder.name) is None
    recorder.write(b"c")
    recorder.finish()
    recorder.discard()
    assert downloads.find(recorder.name, "anna").data == b"abc"
    assert there(downloads, recorder.name, "bert") is None
    assert downloads.used_bytes == 3


def test_the_oldest_make_room():
    downloads = store()
    names = [kept(downloads, 40) for _ in range(2)]
    last = kept(downloads, 30)
    assert [there(downloads, name) for name in (*names, last)] == [None, 40, 30]
    many = [kept(downloads, 1) for _ in range(5)]
    assert [there(downloads, name) for name in many] == [None, None, 1, 1, 1]


def test_a_file_expires():
    clock = Clock()
    downloads = store(clock)
    name = kept(downloads, 5)
    clock.now = 59.0
    assert there(downloads, name) == 5
    clock.now = 60.0
    assert there(downloads, name) is None
    assert downloads.used_bytes == 0


def test_files_under_way_count_and_one_that_is_too_large_is_forgotten():
    downloads = store()
    one, other = (downloads.record("mp3", "audio/mpeg", "anna") for _ in range(2))
    one.write(b"x" * 60)
    other.write(b"x" * 60)
    other.write(b"x")
    other.finish()
    assert there(downloads, other.name) is None
    assert downloads.used_bytes == 60
    one.discard()
    assert downloads.used_bytes == 0
    one.finish()
    assert there(downloads, one.name) is None


@each_row("name", ["", "../x", "a" * 100_000, "\x00"])
def test_names_are_no_paths(name):
    with pytest.raises(NotFoundError, match="no such file"):
        store().find(name, "anna")
