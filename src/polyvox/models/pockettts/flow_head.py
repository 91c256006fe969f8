"""The flow head: an MLP that turns noise into the latent of a frame, under a condition from the language model."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.loading import StateDict, load, renamed, under
from polyvox.models.pockettts.config import HeadConfig, PocketConfig

_EPS = 1e-6
_TIME_EPS = 1e-5
_WAVES = 128
_EMBEDDERS = {"lsd": 2, "flow_matching": 1, "pointwise": 0, "drifting": 0}
_NAMES = (
    (r"^time_embed\.(\d+)\.mlp\.0\.", r"time_embed.\1.enter."),
    (r"^time_embed\.(\d+)\.mlp\.2\.", r"time_embed.\1.leave."),
    (r"^time_embed\.(\d+)\.mlp\.3\.", r"time_embed.\1."),
    (r"adaLN_modulation\.1\.", "modulation."),
    (r"^res_blocks\.(\d+)\.mlp\.0\.", r"blocks.\1.enter."),
    (r"^res_blocks\.(\d+)\.mlp\.2\.", r"blocks.\1.leave."),
    (r"^res_blocks\.(\d+)\.in_ln\.", r"blocks.\1.norm."),
    (r"^res_blocks\.", "blocks."),
    (r"^final_layer\.", "final."),
)


class FlowHead(nn.Module):
    """Latents of noise. The time embeddings depend on the number of steps alone: `times` computes them once."""

    def __init__(self, config: HeadConfig, condition: int, latent: int) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.time_embed = nn.ModuleList(_TimeEmbedding(width) for _ in range(_EMBEDDERS[config.kind]))
        self.cond_embed = nn.Linear(condition, width)
        self.input_proj = nn.Linear(latent, width)
        self.blocks = nn.ModuleList(_Block(width) for _ in range(config.depth))
        self.final = _Final(width, latent)

    def times(self, steps: int) -> Tensor:
        """The embedded times of each step, [steps, width]; one step of zeros where the head knows no time."""
        if not self.time_embed:
            return torch.zeros(1, self.config.width, device=self.cond_embed.weight.device)
        starts = torch.arange(steps, device=self.cond_embed.weight.device, dtype=torch.float32)
        moments = torch.stack((starts, starts + 1)) / steps
        return torch.stack([embed(at[:, None]) for embed, at in zip(self.time_embed, moments, strict=False)]).mean(0)

    def forward(self, condition: Tensor, noise: Tensor, times: Tensor) -> Tensor:
        """Latents [batch, latent] of conditions [batch, width] and noise [batch, latent]."""
        given, latent = self.cond_embed(condition), noise
        if self.config.kind == "drifting":
            return self._flow(given + times[0], noise)
        for time in times:
            latent = latent + self._flow(given + time, latent) / len(times)
        return latent

    def _flow(self, condition: Tensor, latent: Tensor) -> Tensor:
        given, rows = functional.silu(condition), self.input_proj(latent)
        for block in self.blocks:
            rows = block(rows, given)
        out: Tensor = self.final(rows, given)
        return out


class _TimeEmbedding(nn.Module):
    """A time as waves, then two layers, then a division by the deviation around a mean that stays in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("freqs", torch.empty(_WAVES))
        self.enter, self.leave = nn.Linear(2 * _WAVES, width), nn.Linear(width, width)
        self.alpha = nn.Parameter(torch.empty(width))

    def forward(self, times: Tensor) -> Tensor:
        """Rows [n, width] of times [n, 1]."""
        angles = times * self.get_buffer("freqs")
        rows: Tensor = self.leave(functional.silu(self.enter(torch.cat((angles.cos(), angles.sin()), dim=-1))))
        return rows * self.alpha / (rows.var(dim=-1, keepdim=True) + _TIME_EPS).sqrt()


class _Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, _EPS)
        self.modulation = nn.Linear(width, 3 * width)
        self.enter, self.leave = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, rows: Tensor, condition: Tensor) -> Tensor:
        """`condition` has passed the activation that all modulations share."""
        shift, scale, gate = self.modulation(condition).chunk(3, dim=-1)
        inner = self.norm(rows) * (1 + scale) + shift
        out: Tensor = rows + gate * self.leave(functional.silu(self.enter(inner)))
        return out


class _Final(nn.Module):
    def __init__(self, width: int, latent: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, _EPS, elementwise_affine=False)
        self.modulation = nn.Linear(width, 2 * width)
        self.linear = nn.Linear(width, latent)

    def forward(self, rows: Tensor, condition: Tensor) -> Tensor:
        shift, scale = self.modulation(condition).chunk(2, dim=-1)
        out: Tensor = self.linear(self.norm(rows) * (1 + scale) + shift)
        return out


def load_flow_head(config: PocketConfig, state: StateDict) -> FlowHead:
    """Load the head's part of a published state dict, in float32."""
    condition = config.condition or config.transformer.width
    weights = renamed(_NAMES, under("flow_lm.flow_net.", state))
    return load(lambda: FlowHead(config.head, condition, config.codec.latent), weights)
