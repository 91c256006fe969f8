"""The S3 tokenizer in PyTorch: a recording's log mel to its speech tokens, 25 a second."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import attend, merge_heads, split_heads
from polyvox.models.loading import StateDict, load, renamed

_BUFFERS = ("_mel_filters", "window")
"""Tensors of a published file that the features are computed with, not the network."""
_RENAMED = (
    (r"^encoder\.", ""),
    (r"\.attn\.fsmn_block\.", ".attn.memory."),
    (r"\.mlp\.0\.", ".ff_in."),
    (r"\.mlp\.2\.", ".ff_out."),
    (r"^quantizer\._codebook\.project_down\.", "project_down."),
)
"""Parameter names: published and ours."""
_LEVELS = 3
_BOUND = 0.999
"""Of the values before they are rounded: none is rounded beyond -1 and 1."""
_ROTARY_BASE = 10_000.0


@dataclass(frozen=True, slots=True)
class SpeechTokenizerConfig:
    """Sizes of the tokenizer; the defaults are those of the release."""

    bins: int = 128
    width: int = 1280
    heads: int = 20
    layers: int = 6
    digits: int = 8
    memory: int = 31
    """Kernel of the convolution over the values of an attention."""


class SpeechTokenizer(nn.Module):
    """Whisper log mel of one recording [bins, frames] to tokens [n], one for four frames."""

    def __init__(self, config: SpeechTokenizerConfig) -> None:
        super().__init__()
        width = config.width
        self.head_width = width // config.heads
        self.conv1 = nn.Conv1d(config.bins, width, 3, stride=2, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.layers))
        self.project_down = nn.Linear(width, config.digits)

    def forward(self, log_mel: Tensor) -> Tensor:
        """Token ids of one recording; recordings are not batched, so that none is padded."""
        return _from_digits(self.quantized(self.encode(log_mel)))

    def encode(self, log_mel: Tensor) -> Tensor:
        """Rows [n, width] of the encoder."""
        rows = functional.gelu(self.conv2(functional.gelu(self.conv1(log_mel[None])))).transpose(1, 2)
        rotation = _rotation(rows.shape[1], self.head_width, rows.device)
        for block in self.blocks:
            rows = block(rows, rotation)
        return rows[0]

    def quantized(self, rows: Tensor) -> Tensor:
        """The values [n, digits] between -1 and 1 that are rounded to digits."""
        values: Tensor = self.project_down(rows)
        return values.tanh() * _BOUND


class _Block(nn.Module):
    def __init__(self, config: SpeechTokenizerConfig) -> None:
        super().__init__()
        width = config.width
        self.attn_ln = nn.LayerNorm(width)
        self.attn = _MemoryAttention(config)
        self.mlp_ln = nn.LayerNorm(width)
        self.ff_in = nn.Linear(width, 4 * width)
        self.ff_out = nn.Linear(4 * width, width)

    def forward(self, rows: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        rows = rows + self.attn(self.attn_ln(rows), rotation)
        out: Tensor = rows + self.ff_out(functional.gelu(self.ff_in(self.mlp_ln(rows))))
        return out


class _MemoryAttention(nn.Module):
    """Rotary attention to all rows, plus a convolution over the values and the values themselves."""

    def __init__(self, config: SpeechTokenizerConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width)
        self.memory = nn.Conv1d(width, width, config.memory, padding=config.memory // 2, groups=width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, rows: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        query, key = (_rotated(split_heads(linear(rows), self.heads), rotation) for linear in (self.query, self.key))
        values: Tensor = self.value(rows)
        remembered = self.memory(values.transpose(1, 2)).transpose(1, 2) + values
        out: Tensor = self.out(merge_heads(attend(query, key, split_heads(values, self.heads)))) + remembered
        return out


def _rotation(count: int, width: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosines and sines [count, width] of the first positions, for pairs of a dimension and that half a width on."""
    rates = _ROTARY_BASE ** (-torch.arange(0, width, 2, device=device).float() / width)
    angles = torch.arange(count, device=device)[:, None] * rates
    angles = torch.cat((angles, angles), dim=1)
    return angles.cos(), angles.sin()


def _rotated(rows: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    low, high = rows.chunk(2, dim=-1)
    return rows * rotation[0] + torch.cat((-high, low), dim=-1) * rotation[1]


def _from_digits(values: Tensor) -> Tensor:
    """Token ids of values that are rounded to digits of base three, the least first."""
    digits = values.round().long() + 1
    return (digits * _LEVELS ** torch.arange(digits.shape[1], device=digits.device)).sum(dim=1)


def load_speech_tokenizer(config: SpeechTokenizerConfig, state: StateDict) -> SpeechTokenizer:
    """Load a published state dict; what it holds of mel filters is not needed."""
    weights = {name: tensor for name, tensor in state.items() if name not in _BUFFERS}
    return load(lambda: SpeechTokenizer(config), renamed(_RENAMED, weights))
