"""Recordings named by their path: read where the settings say, and nowhere else."""

import os

import pytest

from polyvox.errors import InvalidRequestError, RequestTooLargeError
from polyvox.voices.recording.listed_files import read_listed


@pytest.fixture
def folder(tmp_path):
    """A listed folder, a file in it, and a secret beside it."""
    (tmp_path / "secret.wav").write_bytes(b"secret")
    listed = tmp_path / "listed"
    (listed / "deep").mkdir(parents=True)
    (listed / "deep" / "voice.wav").write_bytes(b"voice")
    return listed


def read(path, *folders, max_bytes=100):
    return read_listed(str(path), folders, max_bytes, "reference_audio")


def test_absolute_and_relative_paths_are_read(folder, tmp_path):
    assert read(folder / "deep" / "voice.wav", folder) == b"voice"
    assert read("deep/voice.wav", folder) == b"voice"
    assert read("deep/voice.wav", tmp_path / "nothing", tmp_path / "listed" / "deep", folder) == b"voice"


def test_links_are_followed_as_far_as_the_folder_goes(folder, tmp_path):
    (folder / "inside.wav").symlink_to("deep/voice.wav")
    assert read("inside.wav", folder) == b"voice"
    (tmp_path / "link").symlink_to(folder)
    assert read(tmp_path / "link" / "inside.wav", folder) == b"voice"
    assert read("inside.wav", tmp_path / "link") == b"voice"


@pytest.mark.parametrize(
    "path",
    [
        *("../secret.wav", "deep/../../secret.wav", "outside.wav", "away/secret.wav", "/etc/passwd", "~/voice.wav"),
        *("", ".", "deep", "none", "loop", "pipe", "nul\0.wav", "x" * 300, "y/" * 2_000, "file://deep/voice.wav"),
    ],
)
def test_nothing_else_is_read(folder, tmp_path, path):
    (folder / "outside.wav").symlink_to(tmp_path / "secret.wav")
    (folder / "away").symlink_to(tmp_path)
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    with pytest.raises(InvalidRequestError) as caught:
        read(path, folder)
    assert caught.value.field == "reference_audio"
    assert str(tmp_path) not in caught.value.message


def test_what_exists_outside_is_not_disclosed(folder, tmp_path):
    with pytest.raises(InvalidRequestError) as exists:
        read(tmp_path / "secret.wav", folder)
    with pytest.raises(InvalidRequestError) as absent:
        read(tmp_path / "absent.wav", folder)
    assert exists.value.message == absent.value.message


def test_without_folders_every_path_is_refused(folder):
    with pytest.raises(InvalidRequestError, match="lists no folder"):
        read(folder / "deep" / "voice.wav")


def test_a_large_file_is_refused(folder):
    with pytest.raises(RequestTooLargeError):
        read("deep/voice.wav", folder, max_bytes=4)
    assert read("deep/voice.wav", folder, max_bytes=5) == b"voice"
