"""NeuCodec's decoder: speech tokens to samples; rows of different lengths in a batch do not influence each other."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from polyvox.models.attention import attend, merge_heads, split_heads
from polyvox.models.loading import StateDict, WeightsError, load, renamed, without_prefix
from polyvox.models.spectrum import istft_frames, overlap_add, squared_window

TOKENS = 65_536
"""Size of the codebook."""

_DIGITS = 8
_GROUPS = 32
_EPS = 1e-6
_MAX_MAGNITUDE = 100.0
_HOPS_PER_FRAME = 4
_NAMES = ((r"^backbone\.", ""), (r"^head\.out\.", "head."))
_DECODER_NAMES = (
    "enter.",
    "embed.",
    "prior_net.",
    "transformers.",
    "post_net.",
    "final_layer_norm.",
    "head.weight",
    "head.bias",
)


@dataclass(frozen=True, slots=True)
class NeuCodecConfig:
    """Sizes of the decoder; the defaults are the release's: 24 kHz, 50 tokens a second."""

    hidden: int = 1024
    depth: int = 12
    heads: int = 16
    hop: int = 480

    @property
    def fft(self) -> int:
        """FFT size of a frame; four frames overlap at each sample."""
        return _HOPS_PER_FRAME * self.hop


class NeuCodec(nn.Module):
    """Each token becomes `hop` samples. Attention is bidirectional and without positions, which only the convolutions
    encode; the group norms are taken over time.
    """

    def __init__(self, config: NeuCodecConfig) -> None:
        super().__init__()
        self.config = config
        self.enter = nn.Linear(_DIGITS, config.hidden)
        self.embed = nn.Conv1d(config.hidden, config.hidden, 7, padding=3)
        self.prior_net = nn.ModuleList(_Residual(config.hidden) for _ in range(2))
        self.transformers = nn.ModuleList(_Block(config.hidden, config.heads) for _ in range(config.depth))
        self.post_net = nn.ModuleList(_Residual(config.hidden) for _ in range(2))
        self.final_layer_norm = nn.LayerNorm(config.hidden, eps=_EPS)
        self.head = nn.Linear(config.hidden, config.fft + 2)

    def forward(self, codes: Tensor, present: Tensor | None = None) -> Tensor:
        """Tokens [batch, time] to samples [batch, time * hop].

        `present` [batch, time] masks padding; None means there is none. Samples of padding are undefined.
        """
        return self.synthesize(self.head(self.features(codes, present).to(self.head.weight.dtype)), present)

    def in_precision(self, dtype: torch.dtype) -> "NeuCodec":
        """A copy that computes in this precision up to the spectrum; the head and the inverse FFT stay in float32."""
        copied = copy.deepcopy(self).to(dtype)
        copied.head = copy.deepcopy(self.head)
        return copied

    def decode(self, codes: Sequence[Tensor]) -> list[Tensor]:
        """The samples of each sequence of tokens, in one batch."""
        lengths = [len(row) for row in codes]
        padded = pad_sequence(list(codes), batch_first=True)
        present = None
        if min(lengths) < padded.shape[1]:
            ends = torch.tensor(lengths, device=padded.device)
            present = torch.arange(padded.shape[1], device=padded.device) < ends[:, None]
        samples = self.forward(padded, present)
        return [row[: length * self.config.hop] for row, length in zip(samples, lengths, strict=True)]

    def features(self, codes: Tensor, present: Tensor | None) -> Tensor:
        """Hidden states after the final norm, [batch, time, hidden]."""
        mask = None if present is None else present[:, None, :]
        rows = self.embed_codes(codes, mask)
        for net in self.prior_net:
            rows = net(rows, mask)
        rows = rows.transpose(1, 2)
        keys = None if mask is None else mask[:, :, None]
        for block in self.transformers:
            rows = block(rows, keys)
        rows = rows.transpose(1, 2)
        for net in self.post_net:
            rows = net(rows, mask)
        out: Tensor = self.final_layer_norm(rows.transpose(1, 2))
        return out

    def embed_codes(self, codes: Tensor, mask: Tensor | None) -> Tensor:
        """Dequantise tokens (eight base-4 digits each) and convolve them, [batch, hidden, time]."""
        shifts = 2 * torch.arange(_DIGITS, device=codes.device)
        digits = (codes[:, :, None] >> shifts) & 3
        rows = self.enter((digits - 2).to(self.enter.weight.dtype) / 2).transpose(1, 2)
        out: Tensor = self.embed(_masked(rows, mask))
        return out

    def synthesize(self, rows: Tensor, present: Tensor | None) -> Tensor:
        """Inverse STFT of log magnitudes and phases, [batch, time, fft + 2].

        The overlap-add is divided by the sum of squared windows, of a row's own frames only.
        """
        fft, hop = self.config.fft, self.config.hop
        magnitude, phase = rows.float().transpose(1, 2).chunk(2, dim=1)
        frames = istft_frames(magnitude.exp().clamp(max=_MAX_MAGNITUDE), phase, fft)
        squares = squared_window(frames)
        if present is not None:
            frames, squares = frames * present[:, :, None], squares * present[:, :, None]
        start = (fft - hop) // 2
        inner = slice(start, start + rows.shape[1] * hop)
        # The floor is reached only where no frame of the row lies: between its own frames squares add up to 0.5 and up.
        return overlap_add(frames, hop)[:, inner] / overlap_add(squares, hop)[:, inner].clamp(min=_EPS)


class _Residual(nn.Module):
    """Residual block of two normalised convolutions, over [batch, hidden, time]."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.norm1 = _GroupNorm(hidden)
        self.conv1 = nn.Conv1d(hidden, hidden, 3, padding=1)
        self.norm2 = _GroupNorm(hidden)
        self.conv2 = nn.Conv1d(hidden, hidden, 3, padding=1)

    def forward(self, rows: Tensor, mask: Tensor | None) -> Tensor:
        inner = self.conv1(_masked(functional.silu(self.norm1(rows, mask)), mask))
        out: Tensor = rows + self.conv2(_masked(functional.silu(self.norm2(inner, mask)), mask))
        return out


class _GroupNorm(nn.Module):
    """Group norm over channels and time, padding masked."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(hidden))
        self.bias = nn.Parameter(torch.empty(hidden))

    def forward(self, rows: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return functional.group_norm(rows, _GROUPS, self.weight, self.bias, _EPS)
        batch, hidden, time = rows.shape
        grouped = rows.float().view(batch, _GROUPS, hidden // _GROUPS, time)
        valid = mask[:, None]
        count = valid.sum(dim=-1, keepdim=True) * (hidden // _GROUPS)
        mean = (grouped * valid).sum(dim=(2, 3), keepdim=True) / count
        centred = grouped - mean
        variance = (centred.square() * valid).sum(dim=(2, 3), keepdim=True) / count
        normed = (centred * torch.rsqrt(variance + _EPS)).view_as(rows).to(rows.dtype)
        return torch.addcmul(self.bias[:, None], normed, self.weight[:, None])


class _Block(nn.Module):
    """Transformer block: bidirectional attention and feed-forward, over [batch, time, hidden]."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.att_norm = nn.RMSNorm(hidden, _EPS)
        self.ffn_norm = nn.RMSNorm(hidden, _EPS)
        self.c_attn = nn.Linear(hidden, 3 * hidden, bias=False)
        self.c_proj = nn.Linear(hidden, hidden, bias=False)
        self.fc1 = nn.Linear(hidden, 4 * hidden, bias=False)
        self.fc2 = nn.Linear(4 * hidden, hidden, bias=False)

    def forward(self, rows: Tensor, keys: Tensor | None) -> Tensor:
        query, key, value = (split_heads(part, self.heads) for part in self.c_attn(self.att_norm(rows)).chunk(3, dim=2))
        rows = rows + self.c_proj(merge_heads(attend(query, key, value, keys)))
        out: Tensor = rows + self.fc2(functional.silu(self.fc1(self.ffn_norm(rows))))
        return out


def _masked(rows: Tensor, mask: Tensor | None) -> Tensor:
    return rows if mask is None else rows * mask


def load_neucodec(config: NeuCodecConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> NeuCodec:
    """Load a published state dict; the encoder's weights are ignored.

    The two linear maps between a token's digits and the network are merged into one.
    """
    learned = renamed((*_NAMES, (r"\.(att|mlp)\.", ".")), without_prefix("generator.", state))
    maps = [f"{name}.{part}" for name in ("quantizer.project_out", "fc_post_a") for part in ("weight", "bias")]
    if missing := [name for name in maps if name not in learned]:
        raise WeightsError(f"The weights of NeuCodec lack {', '.join(missing)}.")
    first, first_bias, second, second_bias = (learned[name].double() for name in maps)
    learned["enter.weight"] = (second @ first).float()
    learned["enter.bias"] = (second @ first_bias + second_bias).float()
    return load(lambda: NeuCodec(config), {n: t for n, t in learned.items() if n.startswith(_DECODER_NAMES)}, dtype)
