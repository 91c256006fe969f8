"""The language model: rows of a voice, a text and earlier latents in, the head's condition of the next frame out."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from polyvox.models.loading import StateDict, WeightsError, load, renamed, under
from polyvox.models.pockettts.config import PocketConfig
from polyvox.models.pockettts.transformer import Layer, rotation_at

_NAMES = (
    (r"^transformer\.", ""),
    (r"^conditioner\.embed\.", "embedding.text."),
    (r"^conditioner\.proj\.", "embedding.text_proj."),
    (r"^speaker_proj_weight$", "embedding.speaker_proj.weight"),
    (r"^(bos_before_voice|bos_emb|input_linear\.weight)$", r"embedding.\1"),
)


@dataclass(frozen=True, slots=True)
class KvRows:
    """Keys and values of sequences, [layers, batch, key heads, capacity, head width] each; written in place."""

    keys: Tensor
    values: Tensor

    @classmethod
    def empty(
        cls, config: PocketConfig, batch: int, capacity: int, device: torch.device, dtype: torch.dtype
    ) -> "KvRows":
        sizes = config.transformer
        shape = (sizes.layers, batch, sizes.key_heads, capacity, sizes.head_width)
        return cls(torch.zeros(shape, device=device, dtype=dtype), torch.zeros(shape, device=device, dtype=dtype))

    def first(self, batch: int, capacity: int) -> "KvRows":
        """A view of the first sequences, as far as so many positions."""
        return KvRows(self.keys[:, :batch, :, :capacity], self.values[:, :batch, :, :capacity])


class RowEmbedding(nn.Module):
    """Rows of texts, voices and latents."""

    def __init__(self, config: PocketConfig) -> None:
        super().__init__()
        width, latent = config.transformer.width, config.codec.latent
        self.text = nn.Embedding(config.vocabulary + 1, config.rank or width)
        self.text_proj = nn.Linear(config.rank, width, bias=False) if config.rank else None
        self.speaker_proj = nn.Linear(config.codec.prompt_latent, width, bias=False)
        self.bos_before_voice = nn.Parameter(torch.empty(1, 1, width)) if config.begins_voice else None
        self.bos_emb = nn.Parameter(torch.empty(latent))
        self.input_linear = nn.Linear(latent, width, bias=False)

    @property
    def device(self) -> torch.device:
        return self.bos_emb.device

    @property
    def dtype(self) -> torch.dtype:
        return self.bos_emb.dtype

    def of_text(self, ids: Tensor) -> Tensor:
        """Rows [batch, n, width] of ids [batch, n]."""
        rows: Tensor = self.text(ids)
        return rows if self.text_proj is None else self.text_proj(rows)

    def of_voice(self, latents: Tensor) -> Tensor:
        """Rows [batch, n, width] of the encoder's latents, behind the row that begins a voice."""
        rows: Tensor = self.speaker_proj(latents.to(self.dtype))
        if self.bos_before_voice is None:
            return rows
        return torch.cat((self.bos_before_voice.expand(len(rows), -1, -1), rows), dim=1)

    def of_latents(self, latents: Tensor) -> Tensor:
        """Rows [batch, 1, width] of the latents [batch, latent] of the frames before."""
        rows: Tensor = self.input_linear(latents.to(self.dtype))
        return rows[:, None]


class FlowLm(nn.Module):
    """The embedding, the backbone and the end-of-speech head."""

    def __init__(self, config: PocketConfig) -> None:
        super().__init__()
        self.config = config
        width, latent = config.transformer.width, config.codec.latent
        condition = config.condition or width
        self.embedding = RowEmbedding(config)
        self.register_buffer("emb_mean", torch.empty(latent))
        self.register_buffer("emb_std", torch.empty(latent))
        self.layers = nn.ModuleList(Layer(config.transformer, scaled=False) for _ in range(config.transformer.layers))
        self.out_norm = nn.LayerNorm(width)
        self.z_proj = nn.Linear(width, condition, bias=False) if config.condition else None
        self.out_eos = nn.Linear(condition, 1)

    def forward(self, rows: Tensor, lengths: Tensor, cache: KvRows) -> Tensor:
        """Read rows [batch, n, width] behind `lengths` [batch] positions; what leaves the last layer.

        Each sequence has its own length, and sees nothing of the others.
        """
        positions = lengths[:, None] + torch.arange(rows.shape[1], device=rows.device)
        rotation = tuple(each.to(rows.dtype) for each in rotation_at(positions, self.config.transformer))
        mask = torch.arange(cache.keys.shape[3], device=rows.device) <= positions[:, None, :, None]
        batch = torch.arange(len(rows), device=rows.device)[:, None]
        for layer, keys, values in zip(self.layers, cache.keys.unbind(), cache.values.unbind(), strict=True):
            assert isinstance(layer, Layer)
            query, key, value = layer.project(rows, (rotation[0], rotation[1]))
            keys[batch, :, positions] = key.transpose(1, 2)
            values[batch, :, positions] = value.transpose(1, 2)
            rows = layer(rows, query, keys, values, mask)
        return rows

    def condition(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The head's condition [batch, width] and the end-of-speech logit [batch] of rows [batch, width], float32."""
        rows = self.out_norm(rows)
        rows = rows if self.z_proj is None else self.z_proj(rows)
        return rows.float(), self.out_eos(rows).float()[:, 0]

    def denormalized(self, latents: Tensor) -> Tensor:
        """Sampled latents as the codec's decoder takes them."""
        return latents * self.get_buffer("emb_std") + self.get_buffer("emb_mean")


def load_flow_lm(config: PocketConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> FlowLm:
    """Load the language model of a published state dict, without its head."""
    given = {name: tensor for name, tensor in under("flow_lm.", state).items() if not name.startswith("flow_net.")}
    if "emb_mean" not in given:
        raise WeightsError("The weights lack flow_lm.emb_mean.")
    return load(lambda: FlowLm(config), renamed(_NAMES, given), dtype)
