"""Distill-MOS, a speech quality predictor, in PyTorch: differentiable, from samples to a mean opinion score (MOS).

The bundle's ONNX graph computes the same and measures scores; this one gives gradients, to keep speech clear while
something else about it is optimised.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.loading import Rules, StateDict, load, renamed
from polyvox.models.spectrum import hann_like

WINDOW = 122_880
"""Samples of one score, at 16 kHz: 7.68 seconds."""

_FRAME, _HOP = 320, 160
_COMPRESSION = 0.3
# Higher than in the ONNX graph: below it the gradient is steep and nothing is audible.
_LEAST_MAGNITUDE = 1e-5
_STRIDES = ((1, 1), (2, 1), (2, 1), (2, 1), (2, 1), (2, 2))
_SLOPE = 0.1
_EPS = 1e-5
# Frames of silence behind speech that the convolutions run over; all later ones would give what the last of them gives.
_MARGIN = 32
_TRUNK = r"^model\.transformer_pool_attn\."
_NAMES: Rules = (
    (r"^model\.cnn\.cnn\.(\d+)\.", r"convs.\1."),
    (_TRUNK + r"transformer\.transformer_encoder\.layers\.", "layers."),
    (_TRUNK + r"transformer\.linear_proj\.", "proj."),
    (_TRUNK + r"transformer\.position_encoding\.pe$", "positions"),
    (_TRUNK + r"transformer\.norm\.", "norm_between."),
    (_TRUNK, ""),
)


@dataclass(frozen=True, slots=True)
class DistillMosConfig:
    """The sizes of the network; the defaults are those of the release."""

    channels: tuple[int, ...] = (2, 64, 64, 128, 256, 256, 256)
    features: int = 1024
    width: int = 200
    hidden: int = 400
    layers: int = 7
    heads: int = 8


class DistillMosNetwork(nn.Module):
    """Samples [batch, time] at 16 kHz, at most `WINDOW` of them, to scores [batch] from 1 to 5."""

    def __init__(self, config: DistillMosConfig) -> None:
        super().__init__()
        self.convs = nn.ModuleDict(
            {
                str(2 * index): nn.Conv2d(inputs, outputs, 3, stride=stride, padding=(0, 1))
                for index, (inputs, outputs, stride) in enumerate(
                    zip(config.channels[:-1], config.channels[1:], _STRIDES, strict=True)
                )
            }
        )
        self.proj = nn.Linear(config.features, config.width)
        self.positions = nn.Parameter(torch.empty(1, WINDOW // _HOP // 2, config.width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(config.width, config.heads, config.hidden, dropout=0.0, batch_first=True)
            for _ in range(config.layers)
        )
        self.norm_trans = nn.ParameterDict({name: torch.empty(config.width) for name in ("weight", "bias")})
        self.pool = nn.ModuleDict(
            {
                "linear1": nn.Linear(config.width, config.hidden),
                "linear2": nn.Linear(config.hidden, 1),
                "linear3": nn.Linear(config.width, 1),
            }
        )

    def forward(self, samples: Tensor) -> Tensor:
        rows = self._convolved(_compressed_spectrum(samples)).transpose(1, 2)
        padding = self.positions.shape[1] - rows.shape[1]
        rows = torch.cat((rows, rows[:, -_MARGIN // 4 :][:, :1].expand(-1, padding, -1)), dim=1)
        rows = self.proj(rows) + self.positions
        for layer in self.layers:
            rows = layer(rows)
        rows = torch.addcmul(self.norm_trans["bias"], rows, self.norm_trans["weight"])
        weights = self.pool["linear2"](self.pool["linear1"](rows).relu()).softmax(dim=1)
        logit: Tensor = self.pool["linear3"]((weights * rows).sum(dim=1))[:, 0]
        return 1 + 4 * logit.sigmoid()

    def _convolved(self, spectrum: Tensor) -> Tensor:
        """Convolve; channels and the few remaining frequencies become one axis, for every other frame."""
        for conv in self.convs.values():
            spectrum = functional.leaky_relu(conv(spectrum), _SLOPE)
        return spectrum.flatten(1, 2)


def _compressed_spectrum(samples: Tensor) -> Tensor:
    """Real and imaginary parts [batch, 2, 161, frames] of the spectrum, its magnitudes raised to a power below 1."""
    if samples.shape[1] < WINDOW:
        silence = min(WINDOW - samples.shape[1], _MARGIN * _HOP)
        samples = functional.pad(samples, (0, silence + -(samples.shape[1] + silence) % (2 * _HOP)))
    level = samples / (samples.detach().abs().amax(dim=1, keepdim=True) + 1e-8)
    reach = (_FRAME - _HOP) // 2
    frames = functional.pad(level[:, None], (reach, reach), mode="reflect")[:, 0].unfold(1, _FRAME, _HOP)
    spectra = torch.fft.rfft(frames * hann_like(frames)).transpose(1, 2)
    parts = torch.stack((spectra.real, spectra.imag), dim=1)
    power = parts.square().sum(dim=1, keepdim=True).clamp(min=_LEAST_MAGNITUDE**2)
    return parts * power ** ((_COMPRESSION - 1) / 2)


def load_distillmos(config: DistillMosConfig, state: StateDict) -> DistillMosNetwork:
    """Load a published state dict, its batch norms folded."""
    ours = renamed(_NAMES, state)
    first, second, last = (_scale_and_shift(ours, norm) for norm in ("norm_input", "norm_between", "norm_trans"))
    scale, shift = first[0] * second[0], first[1] * second[0] + second[1]
    learned = {name: tensor for name, tensor in ours.items() if not name.startswith("norm_")}
    weight, bias = learned["proj.weight"], learned["proj.bias"]
    learned |= {"proj.weight": weight * scale, "proj.bias": bias + weight @ shift}
    learned |= {"norm_trans.weight": last[0], "norm_trans.bias": last[1]}
    return load(lambda: DistillMosNetwork(config), learned)


def _scale_and_shift(state: StateDict, norm: str) -> tuple[Tensor, Tensor]:
    """A batch norm as scale and shift."""
    mean, variance = state[f"{norm}.running_mean"], state[f"{norm}.running_var"]
    scale = state[f"{norm}.weight"] * torch.rsqrt(variance + _EPS)
    return scale, state[f"{norm}.bias"] - mean * scale
