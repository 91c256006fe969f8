"""The network that `train_g2p.py` trains: an encoder over letters, and a small decoder over phonemes."""

import math

import torch
from torch import Tensor, nn

PAD, END = 0, 1
WIDTH, INNER, HEADS, ENCODER_LAYERS, DECODER_LAYERS, DROPOUT = 224, 704, 4, 5, 1, 0.1
HEAD = WIDTH // HEADS
MAX_POSITIONS = 128

Pair = tuple[Tensor, Tensor]
"""Keys and values of one layer, each [batch, heads, positions, head]."""


def sinusoids(count: int) -> Tensor:
    position, rate = torch.arange(count)[:, None], torch.exp(-math.log(1e4) * torch.arange(0, WIDTH, 2) / WIDTH)
    return torch.stack((torch.sin(position * rate), torch.cos(position * rate)), dim=-1).flatten(1)


def heads(x: Tensor) -> Tensor:
    return x.unflatten(2, (HEADS, HEAD)).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.key, self.value = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def memory(self, x: Tensor) -> Pair:
        return heads(self.key(x)), heads(self.value(x))

    def forward(self, x: Tensor, memory: Pair, mask: Tensor | None) -> Tensor:
        keys, values = memory
        scores = heads(self.query(x)) @ keys.transpose(-2, -1) / math.sqrt(HEAD)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e4)
        return self.out((scores.softmax(-1) @ values).transpose(1, 2).flatten(2))


class FeedForward(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH))


class EncoderLayer(nn.Module):
    """Depthwise convolution, self-attention and a feed-forward layer, pre-norm."""

    def __init__(self) -> None:
        super().__init__()
        self.near, self.near_norm = nn.Conv1d(WIDTH, WIDTH, 5, padding=2, groups=WIDTH), nn.LayerNorm(WIDTH)
        self.far, self.far_norm = Attention(), nn.LayerNorm(WIDTH)
        self.inner, self.drop = FeedForward(), nn.Dropout(DROPOUT)

    def forward(self, x: Tensor, keep: Tensor | None) -> Tensor:
        near = self.near_norm(x) if keep is None else self.near_norm(x) * keep[:, :, None]
        x = x + self.drop(self.near(near.transpose(1, 2)).transpose(1, 2))
        normed = self.far_norm(x)
        x = x + self.drop(self.far(normed, self.far.memory(normed), _key_mask(keep)))
        return x + self.drop(self.inner(x))


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention to the letters and a feed-forward layer, pre-norm."""

    def __init__(self) -> None:
        super().__init__()
        self.past, self.past_norm = Attention(), nn.LayerNorm(WIDTH)
        self.cross, self.cross_norm = Attention(), nn.LayerNorm(WIDTH)
        self.inner, self.drop = FeedForward(), nn.Dropout(DROPOUT)

    def own_memory(self, x: Tensor) -> Pair:
        return self.past.memory(self.past_norm(x))

    def forward(self, x: Tensor, own: Pair, causal: Tensor | None, letters: Pair, mask: Tensor | None) -> Tensor:
        x = x + self.drop(self.past(self.past_norm(x), own, causal))
        x = x + self.drop(self.cross(self.cross_norm(x), letters, mask))
        return x + self.drop(self.inner(x))


class Network(nn.Module):
    def __init__(self, letters: int, symbols: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, WIDTH)
        self.encoder = nn.ModuleList(EncoderLayer() for _ in range(ENCODER_LAYERS))
        self.encoder_norm = nn.LayerNorm(WIDTH)
        self.symbols = nn.Embedding(symbols, WIDTH)
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(DECODER_LAYERS))
        self.decoder_norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, symbols)
        self.drop = nn.Dropout(DROPOUT)
        self.register_buffer("positions", sinusoids(MAX_POSITIONS), persistent=False)

    def encode(self, letters: Tensor, keep: Tensor | None = None) -> list[Pair]:
        """The cross-attention keys and values of each decoder layer; `keep` is false where a row is padded."""
        x = self.drop(self.letters(letters) * math.sqrt(WIDTH) + self.positions[: letters.shape[1]])
        for layer in self.encoder:
            x = layer(x, keep)
        x = self.encoder_norm(x)
        return [layer.cross.memory(x) for layer in self.decoder]

    def forward(self, letters: Tensor, target: Tensor) -> Tensor:
        """Logits of every target symbol, with teacher forcing."""
        keep = letters != PAD
        memory = self.encode(letters, keep)
        before = torch.cat((torch.full_like(target[:, :1], END), target[:, :-1]), dim=1)
        x = self.drop(self.symbols(before) * math.sqrt(WIDTH) + self.positions[: before.shape[1]])
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        for layer, remembered in zip(self.decoder, memory, strict=True):
            x = layer(x, layer.own_memory(x), causal, remembered, _key_mask(keep))
        return self.out(self.decoder_norm(x))

    def step(
        self, symbol: Tensor, past: list[Pair], memory: list[Pair], keep: Tensor | None = None
    ) -> tuple[Tensor, list[Pair]]:
        """Log-probabilities of the next symbol, and the KV cache."""
        position = past[0][0].shape[2]
        x = self.symbols(symbol) * math.sqrt(WIDTH) + self.positions[position : position + 1]
        cache: list[Pair] = []
        for layer, before, remembered in zip(self.decoder, past, memory, strict=True):
            keys, values = layer.own_memory(x)
            own = torch.cat((before[0], keys), dim=2), torch.cat((before[1], values), dim=2)
            cache.append(own)
            x = layer(x, own, None, remembered, _key_mask(keep))
        return self.out(self.decoder_norm(x))[:, 0].log_softmax(-1), cache


class Encode(nn.Module):
    """The encoder for export: letters to [layer, key or value, batch, heads, positions, head]."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, letters: Tensor) -> Tensor:
        return torch.stack([torch.stack(pair) for pair in self.network.encode(letters)])


class Step(nn.Module):
    """One decoder step for export."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, symbol: Tensor, past: Tensor, memory: Tensor) -> Pair:
        layers = range(DECODER_LAYERS)
        pasts = [(past[layer, 0], past[layer, 1]) for layer in layers]
        memories = [(memory[layer, 0], memory[layer, 1]) for layer in layers]
        scores, cache = self.network.step(symbol, pasts, memories)
        return scores, torch.stack([torch.stack(pair) for pair in cache])


def _key_mask(keep: Tensor | None) -> Tensor | None:
    return None if keep is None else keep[:, None, None, :]
