"""Where voices are kept is said by the settings, and a mistake in them is named before anything starts."""

import os
from pathlib import Path

import pytest

from polyvox import extras
from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.installation import load_settings
from polyvox.voices.storage.breaker import REST_SECONDS, Breaker, UnreachableError
from polyvox.voices.storage.location import FolderLocation, location_of
from polyvox.voices.storage.recording_copies import RecordingCopies
from polyvox.voices.storage.recordings import digest_of

SHARED = {"voice_database": "postgresql://me:hidden@127.0.0.1:1/voices", "voice_objects": "s3://speech/voices"}


def test_voices_lie_in_a_folder_unless_told_otherwise(tmp_path):
    assert isinstance(location_of(load_settings(data_dir=tmp_path)), FolderLocation)
    assert location_of(load_settings(data_dir=tmp_path, **SHARED)).exists()


@pytest.mark.parametrize("missing", SHARED)
def test_one_setting_without_the_other_is_refused_with_the_reason(missing, tmp_path):
    given = {name: value for name, value in SHARED.items() if name != missing}
    with pytest.raises(InvalidRequestError, match=f"Set {missing} too.*only one has") as caught:
        location_of(load_settings(data_dir=tmp_path, **given))
    assert caught.value.field == missing


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("voice_database", "postgresql://me:hidden@[::1/voices"),
        ("voice_objects", "https://bucket/voices"),
        ("voice_objects", "s3://bucket/../other"),
        ("voice_objects", "s3://Bucket"),
        ("voice_objects_endpoint", "ftp://host"),
        ("voice_objects_endpoint", "https://me:hidden@host"),
        ("voice_objects_secret_key", "hidden"),
    ],
)
def test_a_wrong_address_is_named_without_its_secrets(name, value, tmp_path):
    with pytest.raises(InvalidRequestError) as caught:
        location_of(load_settings(data_dir=tmp_path, **SHARED | {name: value}))
    assert caught.value.field == name
    assert "hidden" not in caught.value.message


def test_without_the_drivers_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    with pytest.raises(UnavailableError, match="cluster"):
        location_of(load_settings(data_dir=tmp_path, **SHARED))


def test_a_database_that_is_not_there_is_reported_with_the_time_to_try_again(tmp_path):
    store = location_of(load_settings(data_dir=tmp_path, **SHARED)).open()
    for _ in range(2):
        with pytest.raises(UnavailableError, match="cannot be reached; try again") as caught:
            store.check()
        assert (caught.value.retry, caught.value.retry_after) == (True, REST_SECONDS)
    store.close()


def test_while_a_service_is_down_one_caller_tries_it_and_the_others_are_refused():
    now = 0.0
    breaker = Breaker(clock=lambda: now)
    calls = []

    def call(*, fails: bool) -> None:
        with breaker.call():
            calls.append(now)
            if fails:
                raise UnreachableError("It is down.")

    for _ in range(3):
        with pytest.raises(UnreachableError, match="It is down"):
            call(fails=True)
    assert calls == [0.0]
    now = REST_SECONDS
    with breaker.call(), pytest.raises(UnreachableError):
        call(fails=False)
    call(fails=False)
    with pytest.raises(ZeroDivisionError), breaker.call():
        1 / 0  # noqa: B018 - the service has answered
    call(fails=False)
    assert calls == [0.0, REST_SECONDS, REST_SECONDS]


def test_copies_stay_within_their_bytes_and_the_unused_go_first(tmp_path: Path):
    copies = RecordingCopies(tmp_path / "copies", 250)
    data = [bytes([number]) * 100 for number in range(4)]
    for age, each in enumerate(data[:2]):
        copies.put(digest_of(each), each)
        os.utime(tmp_path / "copies" / f"{digest_of(each)}.wav", (age, age))
    assert copies.get(digest_of(data[0])) == data[0]
    copies.put(digest_of(data[2]), data[2])
    assert set(copies.digests()) == {digest_of(data[0]), digest_of(data[2])}
    copies.put(digest_of(b"x" * 251), b"x" * 251)
    assert len(copies.digests()) == 2


def test_a_folder_of_copies_that_cannot_be_written_costs_nothing_but_the_copy(tmp_path: Path):
    (tmp_path / "copies").write_text("a file")
    copies = RecordingCopies(tmp_path / "copies", 250)
    copies.put(digest_of(b"x"), b"x")
    assert copies.get(digest_of(b"x")) is None
    with pytest.raises(ValueError, match="hash"):
        copies.get("../../etc/passwd")
