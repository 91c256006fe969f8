"""The clips that fits are tried on: read out of their archives, and no others."""

import hashlib
import io
import tarfile
import wave
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import cloning_clips
from benchmarks.cloning import CloningResult, VoiceMeasurement
from benchmarks.cloning_clips import CLIPS, Archive, Clip, fetch_clips
from benchmarks.cloning_plot import save_similarities, save_spectrograms
from polyvox.errors import UnavailableError


def wav(samples: list[int]) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(16_000)
        target.writeframes(np.array(samples, "<i2").tobytes())
    return file.getvalue()


@pytest.fixture
def archived(tmp_path) -> Clip:
    path = tmp_path / "pack-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, samples in (("a.wav", [0, 16_384]), ("b.wav", [-32_768])):
            entry = tarfile.TarInfo(f"pack-1.0/{name}")
            data = wav(samples)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Clip("two files", Archive("pack", "1.0", digest), ("a.wav", "b.wav"), tuned=False)


def test_the_files_of_a_clip_follow_each_other(archived, tmp_path):
    pcm, rate = archived.read(tmp_path)
    assert rate == 16_000
    np.testing.assert_array_equal(pcm, [0.0, 0.5, -1.0])


def test_an_archive_that_is_there_is_not_fetched_but_must_be_the_one(archived, tmp_path, monkeypatch):
    monkeypatch.setattr(cloning_clips, "CLIPS", (archived,))
    fetch_clips(tmp_path)
    other = replace(archived, archive=replace(archived.archive, sha256="0" * 64))
    monkeypatch.setattr(cloning_clips, "CLIPS", (other,))
    with pytest.raises(UnavailableError, match="remove it"):
        fetch_clips(tmp_path)


def test_at_least_half_of_the_clips_had_no_say_in_the_settings():
    assert len(CLIPS) >= 8
    assert 2 * sum(clip.tuned for clip in CLIPS) <= len(CLIPS)
    assert len({clip.name for clip in CLIPS}) == len(CLIPS)


@pytest.mark.long
def test_pictures_are_small(tmp_path):
    measured = VoiceMeasurement(0.5, 0.4, 0.5, 0.3, 0.0, 4.5, 120.0)
    result = CloningResult("clip", False, 5.0, 120, 0.2, "af_heart", "af_heart", measured, measured, 100, 200)
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, 32_000).astype(np.float32)
    save_similarities([result, result], tmp_path / "bars.png")
    save_spectrograms([("one", noise, 16_000), ("other", noise, 24_000)], tmp_path / "spectrogram.png")
    for name in ("bars.png", "spectrogram.png"):
        assert 0 < (tmp_path / name).stat().st_size < 150_000
