"""ZipVoice computed in the order in which its authors' release computes it, for comparison only.

The modules carry the published names, so that their weights are a published state dict. What they do at inference is
kept: time first and batch second, activations as chains of single operations, distances coded anew in every stack of
every call, masks even where nothing is masked, convolutions over turned rows, guidance as a doubled batch.
"""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput, time_schedule, token_indices
from polyvox.models.zipvoice.model import (
    GUIDANCE_EMBEDDING,
    GUIDANCE_SWITCH_TIME,
    PAD,
    ZipVoiceConfig,
    sinusoidal_embedding,
)
from polyvox.models.zipvoice.zipformer import ZipformerConfig

_MASKED = -1000.0


class OriginalZipVoice(nn.Module):
    """Base or distilled; one request at a time."""

    def __init__(self, config: ZipVoiceConfig) -> None:
        super().__init__()
        self.distilled = config.distilled
        self.embed = nn.Embedding(config.vocabulary, config.text.inputs)
        self.text_encoder = _Zipformer(config.text, distilled=False)
        self.fm_decoder = _Zipformer(config.decoder, distilled=config.distilled)

    def forward(self, line: ZipVoiceInput, noise: Tensor, solver: SolverOptions) -> Tensor:
        """The mel that is spoken, [frames, bins]."""
        frames = line.frames
        text = self._text_condition(line)
        speech = torch.zeros(1, frames, line.prompt.shape[1])
        speech[0, : len(line.prompt)] = line.prompt
        mask = torch.arange(frames)[None] >= torch.tensor([frames])[:, None]
        mel, times = noise[None], torch.tensor(time_schedule(solver.steps, solver.shift))
        for now, then in pairwise(times):
            mel = mel + self._velocity(mel, text, speech, mask, now, solver.guidance) * (then - now)
        return mel[0, len(line.prompt) :]

    def straighten(self, straight: bool) -> None:
        """Whether convolved rows are copied into their usual order before they are projected.

        The release projects them as they are, which PyTorch does frame by frame; the comparison is to show that, too.
        """
        for module in self.modules():
            if isinstance(module, _Convolution):
                module.straight = straight

    def _text_condition(self, line: ZipVoiceInput) -> Tensor:
        tokens = torch.tensor([[*line.prompt_tokens, *line.tokens, PAD]])
        mask = torch.arange(tokens.shape[1])[None] >= tokens.shape[1] - 1
        rows: Tensor = self.text_encoder(self.embed(tokens), mask, None, None)
        return rows[:, token_indices(tokens.shape[1] - 1, line.frames)]

    def _velocity(
        self, mel: Tensor, text: Tensor, speech: Tensor, mask: Tensor, time: Tensor, guidance: float
    ) -> Tensor:
        scale = torch.tensor([guidance])
        if self.distilled:
            out: Tensor = self.fm_decoder(torch.cat((mel, text, speech), dim=2), mask, time[None], scale)
            return out
        silent = torch.zeros_like(speech) if time > GUIDANCE_SWITCH_TIME else speech
        scale = scale if time > GUIDANCE_SWITCH_TIME else scale * 2
        rows = torch.cat(
            (torch.cat((mel,) * 2), torch.cat((torch.zeros_like(text), text)), torch.cat((silent, speech))), 2
        )
        unguided, guided = self.fm_decoder(rows, torch.cat((mask,) * 2), time.expand(2), None).chunk(2)
        velocity: Tensor = (1 + scale) * guided - scale * unguided
        return velocity


class _Zipformer(nn.Module):
    def __init__(self, config: ZipformerConfig, *, distilled: bool) -> None:
        super().__init__()
        self.width = config.time
        self.in_proj = nn.Linear(config.inputs, config.width)
        self.encoders = nn.ModuleList(
            _Encoder(config, index) if rate == 1 else _DownsampledEncoder(config, index)
            for index, rate in enumerate(config.downsampling)
        )
        self.out_proj = nn.Linear(config.width, config.outputs)
        if config.time is not None:
            self.time_embed = nn.Sequential(
                nn.Linear(config.time, 2 * config.time), _SwooshR(), nn.Linear(2 * config.time, config.time)
            )
        if distilled:
            assert config.time is not None
            self.guidance_scale_embed = nn.Linear(GUIDANCE_EMBEDDING, config.time, bias=False)

    def forward(self, rows: Tensor, mask: Tensor, time: Tensor | None, guidance: Tensor | None) -> Tensor:
        rows = self.in_proj(rows.permute(1, 0, 2))
        moment = None
        if time is not None:
            assert self.width is not None
            moment = sinusoidal_embedding(time, self.width)
            if guidance is not None:
                moment = moment + self.guidance_scale_embed(sinusoidal_embedding(guidance, GUIDANCE_EMBEDDING))
            moment = self.time_embed(moment)
        for encoder in self.encoders:
            rows = encoder(rows, moment, mask)
        out: Tensor = self.out_proj(rows)
        return out.permute(1, 0, 2)


class _Encoder(nn.Module):
    """Layers at one rate."""

    def __init__(self, config: ZipformerConfig, index: int) -> None:
        super().__init__()
        self.position = config.position
        self.layers = nn.ModuleList(_Layer(config, config.kernels[index]) for _ in range(config.layers[index]))
        if config.time is not None:
            self.time_emb = nn.Sequential(_SwooshR(), nn.Linear(config.time, config.width))

    def forward(self, rows: Tensor, moment: Tensor | None, mask: Tensor) -> Tensor:
        distances = _distances(len(rows), self.position)
        if moment is not None:
            moment = self.time_emb(moment)
        for layer in self.layers:
            rows = layer(rows, distances, moment, mask)
        return rows


class _DownsampledEncoder(nn.Module):
    def __init__(self, config: ZipformerConfig, index: int) -> None:
        super().__init__()
        self.rate = config.downsampling[index]
        self.encoder = _Encoder(config, index)
        self.downsample = _Downsample(self.rate)
        self.out_combiner = _Bypass(config.width)

    def forward(self, rows: Tensor, moment: Tensor | None, mask: Tensor) -> Tensor:
        pooled = self.encoder(self.downsample(rows), moment, mask[..., :: self.rate])
        frames, batch, width = pooled.shape
        repeated = pooled.unsqueeze(1).expand(frames, self.rate, batch, width).reshape(-1, batch, width)
        out: Tensor = self.out_combiner(rows, repeated[: len(rows)])
        return out


class _Downsample(nn.Module):
    def __init__(self, rate: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(rate))

    def forward(self, rows: Tensor) -> Tensor:
        rate, (frames, batch, width) = len(self.bias), rows.shape
        groups = -(-frames // rate)
        rows = torch.cat((rows, rows[-1:].expand(groups * rate - frames, batch, width)))
        return (rows.reshape(groups, rate, batch, width) * self.bias.softmax(dim=0)[:, None, None]).sum(dim=1)


class _Layer(nn.Module):
    def __init__(self, config: ZipformerConfig, kernel: int) -> None:
        super().__init__()
        width, hidden = config.width, config.feed_forward
        self.self_attn_weights = _AttentionWeights(config)
        self.self_attn1, self.self_attn2 = _Attention(config), _Attention(config)
        self.feed_forward1 = _FeedForward(width, hidden * 3 // 4)
        self.feed_forward2 = _FeedForward(width, hidden)
        self.feed_forward3 = _FeedForward(width, hidden * 5 // 4)
        self.nonlin_attention = _GatedAttention(width, width * 3 // 4)
        self.conv_module1, self.conv_module2 = _Convolution(width, kernel), _Convolution(width, kernel)
        self.norm = _BiasNorm(width)
        self.bypass, self.bypass_mid = _Bypass(width), _Bypass(width)

    def forward(self, rows: Tensor, distances: Tensor, moment: Tensor | None, mask: Tensor) -> Tensor:
        weights = self.self_attn_weights(rows, distances, mask)
        out = rows if moment is None else rows + moment
        out = out + self.feed_forward1(out)
        out = out + self.nonlin_attention(out, weights[0:1])
        out = out + self.self_attn1(out, weights)
        out = out if moment is None else out + moment
        out = out + self.conv_module1(out, mask)
        out = out + self.feed_forward2(out)
        out = self.bypass_mid(rows, out)
        out = out + self.self_attn2(out, weights)
        out = out if moment is None else out + moment
        out = out + self.conv_module2(out, mask)
        out = out + self.feed_forward3(out)
        mixed: Tensor = self.bypass(rows, self.norm(out))
        return mixed


class _AttentionWeights(nn.Module):
    def __init__(self, config: ZipformerConfig) -> None:
        super().__init__()
        self.heads, self.query_head, self.position_head = config.heads, config.query_head, config.position_head
        self.in_proj = nn.Linear(config.width, config.heads * (2 * config.query_head + config.position_head))
        self.linear_pos = nn.Linear(config.position, config.heads * config.position_head, bias=False)

    def forward(self, rows: Tensor, distances: Tensor, mask: Tensor) -> Tensor:
        frames, batch, _ = rows.shape
        rows = self.in_proj(rows)
        cut = self.heads * self.query_head
        query = rows[..., :cut].reshape(frames, batch, self.heads, -1).permute(2, 1, 0, 3)
        key = rows[..., cut : 2 * cut].reshape(frames, batch, self.heads, -1).permute(2, 1, 3, 0)
        place = rows[..., 2 * cut :].reshape(frames, batch, self.heads, -1).permute(2, 1, 0, 3)
        scores = torch.matmul(query, key)
        far = self.linear_pos(distances).reshape(-1, 2 * frames - 1, self.heads, self.position_head)
        by_distance = torch.matmul(place, far.permute(2, 0, 3, 1))
        first, second, third, last = by_distance.stride()
        scores = scores + by_distance.as_strided(
            (self.heads, batch, frames, frames), (first, second, third - last, last), last * (frames - 1)
        )
        return scores.masked_fill(mask.unsqueeze(1), _MASKED).softmax(dim=-1)


class _Attention(nn.Module):
    def __init__(self, config: ZipformerConfig) -> None:
        super().__init__()
        self.in_proj = nn.Linear(config.width, config.heads * config.value_head)
        self.out_proj = nn.Linear(config.heads * config.value_head, config.width)

    def forward(self, rows: Tensor, weights: Tensor) -> Tensor:
        frames, batch, _ = rows.shape
        values = self.in_proj(rows).reshape(frames, batch, len(weights), -1).permute(2, 1, 0, 3)
        attended = torch.matmul(weights, values).permute(2, 1, 0, 3).contiguous().view(frames, batch, -1)
        out: Tensor = self.out_proj(attended)
        return out


class _GatedAttention(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(width, 3 * hidden)
        self.out_proj = nn.Linear(hidden, width)

    def forward(self, rows: Tensor, weights: Tensor) -> Tensor:
        frames, batch, _ = rows.shape
        gate, values, after = self.in_proj(rows).chunk(3, dim=2)
        values = (values * gate.tanh()).reshape(frames, batch, len(weights), -1).permute(2, 1, 0, 3)
        attended = torch.matmul(weights, values).permute(2, 1, 0, 3).reshape(frames, batch, -1)
        out: Tensor = self.out_proj(attended * after)
        return out


class _FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(width, hidden)
        self.out_proj = nn.Linear(hidden, width)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.out_proj(_chained_swoosh(self.in_proj(rows), 4.0, 0.035))
        return out


class _Convolution(nn.Module):
    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.straight = False
        self.in_proj = nn.Linear(width, 2 * width)
        self.depthwise_conv = nn.Conv1d(width, width, kernel, groups=width, padding=kernel // 2)
        self.out_proj = nn.Linear(width, width)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        values, gate = self.in_proj(rows).chunk(2, dim=2)
        turned = (values * gate.sigmoid()).permute(1, 2, 0)
        turned = turned.masked_fill(mask.unsqueeze(1).expand_as(turned), 0.0)
        near = self.depthwise_conv(turned).permute(2, 0, 1)
        bent = _chained_swoosh(near, 1.0, 0.313261687)
        out: Tensor = self.out_proj(bent.contiguous() if self.straight else bent)
        return out


class _BiasNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(()))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, rows: Tensor) -> Tensor:
        scales = torch.mean((rows - self.bias) ** 2, dim=-1, keepdim=True) ** -0.5 * self.log_scale.exp()
        return rows * scales


class _Bypass(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.bypass_scale = nn.Parameter(torch.zeros(width))

    def forward(self, before: Tensor, after: Tensor) -> Tensor:
        return before + (after - before) * self.bypass_scale


class _SwooshR(nn.Module):
    def forward(self, rows: Tensor) -> Tensor:
        return _chained_swoosh(rows, 1.0, 0.313261687)


def _chained_swoosh(rows: Tensor, shift: float, offset: float) -> Tensor:
    """The activation as the release computes it where its own kernels are not installed."""
    shifted = rows - shift
    soft = (1.0 + shifted.exp()).log()
    soft = torch.where(soft == math.inf, shifted, soft)
    return soft - 0.08 * rows - offset


def _distances(frames: int, width: int) -> Tensor:
    """Every distance between two frames, coded; [1, 2 * frames - 1, width]."""
    distance = torch.arange(1 - frames, frames).to(torch.float32).unsqueeze(1)
    scale = math.sqrt(width)
    bent = scale * distance.sign() * ((distance.abs() + scale).log() - math.log(scale))
    angles = (bent / (width / (2.0 * math.pi))).atan() * (1 + torch.arange(width // 2))
    code = torch.zeros(2 * frames - 1, width)
    code[:, 0::2], code[:, 1::2] = angles.cos(), angles.sin()
    code[:, -1] = 1.0
    return code.unsqueeze(0)


def seeded_original(config: ZipVoiceConfig) -> OriginalZipVoice:
    """The network with random weights that let signals through at about their strength."""
    torch.manual_seed(0)
    model = OriginalZipVoice(config).requires_grad_(False).eval()
    for parameter in model.parameters():
        parameter.normal_(std=parameter[0].numel() ** -0.5 if parameter.dim() > 1 else 0.1)
    return model
