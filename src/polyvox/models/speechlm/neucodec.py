"""NeuCodec's decoder: speech tokens to samples, many lengths in one batch, each as if it were alone."""

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
"""Ids below this are speech."""

_DIGITS = 8
_GROUPS = 32
_EPS = 1e-6
_LOUDEST = 100.0
_FRAME_HOPS = 4
_NAMES = ((r"^backbone\.", ""), (r"^head\.out\.", "head."))
_BUILT = (
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
    """The sizes of the decoder; the defaults are the release's: 24 kHz, 50 tokens a second."""

    hidden: int = 1024
    depth: int = 12
    heads: int = 16
    hop: int = 480

    @property
    def fft(self) -> int:
        """The length of a frame; four of them lie over each sample."""
        return _FRAME_HOPS * self.hop


class NeuCodec(nn.Module):
    """Each token becomes `hop` samples. Every token sees all others: attention has no sense of place, only the
    convolutions have, and some norms are taken over time.
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
        """Tokens [batch, time] as samples [batch, time * hop].

        `present` [batch, time] says which tokens are there; None means all. What comes from the others is undefined.
        """
        return self.sounded(self.head(self.features(codes, present).to(self.head.weight.dtype)), present)

    def rounded(self, dtype: torch.dtype) -> "NeuCodec":
        """A copy that reckons in this precision up to the spectrum: exponents and phases stay exact."""
        copied = copy.deepcopy(self).to(dtype)
        copied.head = copy.deepcopy(self.head)
        return copied

    def decode(self, codes: Sequence[Tensor]) -> list[Tensor]:
        """The samples of each sequence of tokens, all of them in one batch."""
        lengths = [len(row) for row in codes]
        padded = pad_sequence(list(codes), batch_first=True)
        present = None
        if min(lengths) < padded.shape[1]:
            ends = torch.tensor(lengths, device=padded.device)
            present = torch.arange(padded.shape[1], device=padded.device) < ends[:, None]
        samples = self.forward(padded, present)
        return [row[: length * self.config.hop] for row, length in zip(samples, lengths, strict=True)]

    def features(self, codes: Tensor, present: Tensor | None) -> Tensor:
        """Tokens as what the last norm makes of them, [batch, time, hidden]."""
        mask = None if present is None else present[:, None, :]
        rows = self.embedded(codes, mask)
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

    def embedded(self, codes: Tensor, mask: Tensor | None) -> Tensor:
        """Tokens with their neighbours, [batch, hidden, time]."""
        places = 2 * torch.arange(_DIGITS, device=codes.device)
        digits = (codes[:, :, None] >> places) & 3
        rows = self.enter((digits - 2).to(self.enter.weight.dtype) / 2).transpose(1, 2)
        out: Tensor = self.embed(_masked(rows, mask))
        return out

    def sounded(self, rows: Tensor, present: Tensor | None) -> Tensor:
        """Logarithms of magnitudes beside phases, [batch, time, fft + 2], as samples.

        Where windows overlap, the sum is divided by the sum of their squares: of a row's own frames only.
        """
        fft, hop = self.config.fft, self.config.hop
        magnitude, phase = rows.float().transpose(1, 2).chunk(2, dim=1)
        frames = istft_frames(magnitude.exp().clamp(max=_LOUDEST), phase, fft)
        squares = squared_window(frames)
        if present is not None:
            frames, squares = frames * present[:, :, None], squares * present[:, :, None]
        start = (fft - hop) // 2
        inner = slice(start, start + rows.shape[1] * hop)
        # The floor is reached only where no frame of the row lies: between its own frames squares add up to 0.5 and up.
        return overlap_add(frames, hop)[:, inner] / overlap_add(squares, hop)[:, inner].clamp(min=_EPS)


class _Residual(nn.Module):
    """Two normed convolutions beside a straight way, over [batch, hidden, time]."""

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
    """Norms of groups of channels over the time that is there."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(hidden))
        self.bias = nn.Parameter(torch.empty(hidden))

    def forward(self, rows: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return functional.group_norm(rows, _GROUPS, self.weight, self.bias, _EPS)
        batch, hidden, time = rows.shape
        grouped = rows.float().view(batch, _GROUPS, hidden // _GROUPS, time)
        there = mask[:, None]
        count = there.sum(dim=-1, keepdim=True) * (hidden // _GROUPS)
        mean = (grouped * there).sum(dim=(2, 3), keepdim=True) / count
        centred = grouped - mean
        variance = (centred.square() * there).sum(dim=(2, 3), keepdim=True) / count
        normed = (centred * torch.rsqrt(variance + _EPS)).view_as(rows).to(rows.dtype)
        return torch.addcmul(self.bias[:, None], normed, self.weight[:, None])


class _Block(nn.Module):
    """Attention among all tokens, then a feed-forward net, over [batch, time, hidden]."""

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
    """The decoder of a published state dict; what only the encoder needs is left aside.

    The two linear maps between a token's digits and the network become one.
    """
    learned = renamed((*_NAMES, (r"\.(att|mlp)\.", ".")), without_prefix("generator.", state))
    maps = [f"{name}.{part}" for name in ("quantizer.project_out", "fc_post_a") for part in ("weight", "bias")]
    if missing := [name for name in maps if name not in learned]:
        raise WeightsError(f"The weights of NeuCodec lack {', '.join(missing)}.")
    first, first_bias, second, second_bias = (learned[name].double() for name in maps)
    learned["enter.weight"] = (second @ first).float()
    learned["enter.bias"] = (second @ first_bias + second_bias).float()
    return load(lambda: NeuCodec(config), {n: t for n, t in learned.items() if n.startswith(_BUILT)}, dtype)
