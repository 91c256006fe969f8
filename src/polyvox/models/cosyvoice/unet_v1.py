"""CosyVoice 1's velocity estimator: a U-Net that halves the frame rate once, over all frames at once."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache
from polyvox.models.convolution import CenteredConv, TransposedUpsample
from polyvox.models.cosyvoice.ode_solver import FlowPoint
from polyvox.models.cosyvoice.unet import Level, TimeEmbedding, UNetConfig

RENAMED = (
    (r"^(down|up)_blocks\.(\d+)\.0\.", r"\1.\2.residual."),
    (r"^(down|up)_blocks\.(\d+)\.1\.", r"\1.\2.transformers."),
    (r"^down_blocks\.0\.2\.conv\.", "downsample."),
    (r"^down_blocks\.1\.2\.", "down_conv."),
    (r"^up_blocks\.0\.2\.conv\.", "upsample."),
    (r"^up_blocks\.1\.2\.", "up_conv."),
    (r"^mid_blocks\.(\d+)\.0\.", r"middle.\1.residual."),
    (r"^mid_blocks\.(\d+)\.1\.", r"middle.\1.transformers."),
    (r"^final_block\.", "final."),
    (r"\.block\.0\.", ".conv."),
    (r"\.block\.1\.", ".norm."),
    (r"\.to_out\.0\.", ".to_out."),
    (r"\.ff\.net\.0\.proj\.", ".ff_in."),
    (r"\.ff\.net\.2\.", ".ff_out."),
    (r"^time_mlp\.", "time."),
    (r"^(.*)\.residual\.mlp\.1\.", r"time.\1."),
)
"""Parameter names: published and ours; those under `time.` belong to `UNet1Time`."""

_GROUPS = 8


class UNet1Time(TimeEmbedding):
    """Time conditioning of the estimator: one vector for each of its convolution blocks."""

    def __init__(self, config: UNetConfig) -> None:
        super().__init__(config)
        for name, count in (("down", 2), ("middle", config.mid_blocks), ("up", 2)):
            linears = (nn.Linear(4 * config.channels, config.channels) for _ in range(count))
            self.add_module(name, nn.ModuleList(linears))

    def forward(self, times: Tensor) -> Tensor:
        """Conditioning vectors [n, blocks, channels] of times [n]."""
        activated = functional.mish(self.embed(times))
        levels = (self.get_submodule(name).children() for name in ("down", "middle", "up"))
        return torch.stack([linear(activated) for level in levels for linear in level], dim=1)


class UNet1(nn.Module):
    """Velocity of the mel spectrogram at one point of the flow."""

    def __init__(self, config: UNetConfig) -> None:
        super().__init__()
        width = config.channels
        self.down = nn.ModuleList(Level(config, inputs, _ConvBlock) for inputs in (config.inputs, width))
        self.downsample = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.down_conv = CenteredConv(width, width, 3)
        self.middle = nn.ModuleList(Level(config, width, _ConvBlock) for _ in range(config.mid_blocks))
        self.up = nn.ModuleList(Level(config, 2 * width, _ConvBlock) for _ in range(2))
        self.upsample = TransposedUpsample(width, width, 4, 2)
        self.up_conv = CenteredConv(width, width, 3)
        self.final = _ConvBlock(width, width)
        self.final_proj = nn.Conv1d(width, config.outputs, 1)

    def forward(self, point: FlowPoint, time: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        """The velocity [batch, bins, frames]; `time` [blocks, channels] comes from `UNet1Time`."""
        speaker = point.speaker[:, :, None].expand_as(point.mel)
        inputs = torch.cat((point.mel, point.mu, speaker, point.condition), dim=1)
        fine = self.down[0](inputs, time[0], cache, mask)
        coarse = self.down[1](self.downsample(fine), time[1], cache, mask)
        frames = self.down_conv(coarse, cache)
        for level, moment in zip(self.middle, time[2:-2], strict=True):
            frames = level(frames, moment, cache, mask)
        frames = self.up[0](torch.cat((frames, coarse), dim=1), time[-2], cache, mask)
        # An odd number of frames has one more after halving and doubling.
        frames = self.upsample(frames, cache)[:, :, : fine.shape[2]]
        frames = self.up[1](torch.cat((frames, fine), dim=1), time[-1], cache, mask)
        velocity: Tensor = self.final_proj(self.final(self.up_conv(frames, cache), cache))
        return velocity


class _ConvBlock(nn.Module):
    def __init__(self, inputs: int, channels: int) -> None:
        super().__init__()
        self.conv = CenteredConv(inputs, channels, 3)
        self.norm = nn.GroupNorm(_GROUPS, channels)

    def forward(self, frames: Tensor, cache: LayerCache) -> Tensor:
        return functional.mish(self.norm(self.conv(frames, cache)))
