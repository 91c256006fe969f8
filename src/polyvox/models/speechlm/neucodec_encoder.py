"""NeuCodec's encoder: a recording to the tokens that the decoder turns into its speech again.

Features are normalised over the whole recording and attention spans all of it: tokens of a part are not a part of the
tokens, and a padded recording has others. A recording is therefore encoded whole and alone.
"""

import math
import re
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.audio.features import w2v_bert_features
from polyvox.models.loading import StateDict, WeightsError, fold_weight_norm, load, renamed
from polyvox.models.speechlm.acoustic_encoder import AcousticEncoder, AcousticEncoderConfig, filter_taps, strides_of
from polyvox.models.speechlm.w2v_bert import W2vBert, W2vBertConfig
from polyvox.types import Pcm

SAMPLE_RATE = 16_000
SEMANTIC, ACOUSTIC = "semantic_model.", "CodecEnc."
"""Prefixes of the published names of weights: w2v-bert's, and the acoustic encoder's."""

_DIGITS, _LEVELS = 8, 4
_NAMES = (
    (r"^semantic_model\.", "semantic."),
    (r"^SemanticEncoder_module\.", "semantic_encoder."),
    (r"^CodecEnc\.", "acoustic_encoder."),
    (r"^generator\.quantizer\.project_in\.", "project_in."),
)
_PARTS = ("semantic.", "semantic_encoder.", "acoustic_encoder.", "fc_prior.", "project_in.")
_LAYER = re.compile(r"semantic\.encoder\.layers\.(\d+)\.")
_FILTER = re.compile(r"\.(upsample|downsample\.lowpass)\.filter$")


@dataclass(frozen=True, slots=True)
class NeuCodecEncoderConfig:
    """Sizes of the encoder; `hidden` is the width between the last two maps. The defaults are the release's."""

    semantic: W2vBertConfig = field(default_factory=W2vBertConfig)
    acoustic: AcousticEncoderConfig = field(default_factory=AcousticEncoderConfig)
    hidden: int = 2048


class NeuCodecEncoder(nn.Module):
    """Encoder of recordings: words by w2v-bert and sound by convolutions, side by side in each token."""

    def __init__(self, config: NeuCodecEncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.semantic = W2vBert(config.semantic)
        self.semantic_encoder = SemanticEncoder(config.semantic.hidden)
        self.acoustic_encoder = AcousticEncoder(config.acoustic)
        self.fc_prior = nn.Linear(config.semantic.hidden + config.acoustic.outputs, config.hidden)
        self.project_in = nn.Linear(config.hidden, _DIGITS)

    def encode(self, pcm: Pcm) -> Tensor:
        """Samples at 16 kHz to tokens [len(pcm) // hop], of which there must be one at least."""
        samples = self.padded(torch.from_numpy(pcm)).float()
        features = torch.from_numpy(w2v_bert_features(samples.numpy()))
        weight = self.project_in.weight
        return self.forward(features[None].to(weight.device), samples[None].to(weight.device))[0]

    def padded(self, samples: Tensor) -> Tensor:
        """Samples and silence up to the next whole frame; a recording of whole frames gets one more."""
        return functional.pad(samples, (0, self.config.acoustic.hop - samples.shape[-1] % self.config.acoustic.hop))

    def forward(self, features: Tensor, samples: Tensor) -> Tensor:
        """Features [batch, time, 160] and padded samples [batch, more than time * hop] to tokens [batch, time]."""
        semantic = self.semantic_encoder(self.semantic(features).transpose(1, 2))
        acoustic = self.acoustic_encoder(samples)
        joined = torch.cat((semantic, acoustic[:, :, : semantic.shape[2]]), dim=1)
        return codes_of(self.project_in(self.fc_prior(joined.transpose(1, 2))))


class SemanticEncoder(nn.Module):
    """Convolutions after w2v-bert, over [batch, hidden, time]."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.initial_conv = nn.Conv1d(hidden, hidden, 3, padding=1, bias=False)
        inner = [nn.Conv1d(hidden, hidden, 3, padding=1) for _ in range(2)]
        self.residual_blocks = nn.Sequential(nn.ReLU(), inner[0], nn.ReLU(), inner[1])
        self.final_conv = nn.Conv1d(hidden, hidden, 3, padding=1, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        # The original rectifies in place, and so in its residual too.
        rectified = functional.relu(self.initial_conv(rows))
        out: Tensor = self.final_conv(rectified + self.residual_blocks(rectified))
        return out


def codes_of(projected: Tensor) -> Tensor:
    """Quantise [..., 8] to tokens [...]: eight digits of base 4, the first one least.

    The original bounds values twice, in its residual quantiser and in the one within it; the decoder was trained so.
    """
    digits = bounded(bounded(projected.float())).round().long() + _LEVELS // 2
    return (digits << 2 * torch.arange(_DIGITS, device=digits.device)).sum(dim=-1)


def bounded(values: Tensor) -> Tensor:
    """Squash values into the range that rounds to -2, -1, 0 and 1."""
    half, offset = (_LEVELS - 1) * 1.001 / 2, 0.5
    return (values + math.atanh(offset / half)).tanh() * half - offset


def encoder_config(state: StateDict) -> NeuCodecEncoderConfig:
    """The sizes of a published state dict; KeyError where it has no encoder."""
    first, final = "CodecEnc.conv_blocks.0.weight_v", "CodecEnc.conv_final_block.1.weight_v"
    blocks = len({name.split(".")[2] for name in state if name.startswith("CodecEnc.conv_blocks.")}) - 1
    kernels = [state[f"CodecEnc.conv_blocks.{index}.block.4.weight_v"].shape[2] for index in range(1, blocks + 1)]
    layer = f"{SEMANTIC}encoder.layers.0."
    feed_forward, hidden = state[f"{layer}ffn1.intermediate_dense.weight"].shape
    head_width = state[f"{layer}self_attn.distance_embedding.weight"].shape[1]
    return NeuCodecEncoderConfig(
        W2vBertConfig(hidden, feed_forward, hidden // head_width),
        AcousticEncoderConfig(state[first].shape[0], strides_of(kernels), state[final].shape[0]),
        state["fc_prior.weight"].shape[0],
    )


def load_neucodec_encoder(
    config: NeuCodecEncoderConfig, state: StateDict, dtype: torch.dtype = torch.float32
) -> NeuCodecEncoder:
    """Load a published state dict; the decoder's weights and the layers of w2v-bert that are not used are ignored."""
    named = renamed(_NAMES, state)
    learned = {name: tensor for name, tensor in named.items() if name.startswith(_PARTS) and _used(name, config)}
    _check_filters({name: learned.pop(name) for name in list(learned) if _FILTER.search(name)})
    return load(lambda: NeuCodecEncoder(config), fold_weight_norm(learned), dtype)


def _used(name: str, config: NeuCodecEncoderConfig) -> bool:
    layer = _LAYER.match(name)
    return name != "semantic.masked_spec_embed" and (layer is None or int(layer[1]) < config.semantic.layers)


def _check_filters(filters: StateDict) -> None:
    """The filters are the same everywhere, and computed here; one that differs is of another model."""
    for name, taps in filters.items():
        if taps.numel() != len(filter_taps()) or not torch.allclose(taps.float().flatten(), filter_taps(), atol=1e-4):
            raise WeightsError(f"The filter {name} is not NeuCodec's.")
