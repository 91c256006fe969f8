"""NeuCodec decoders whose weights need no file: each tensor is drawn from its published name and one seed."""

import math
import zlib
from functools import cache

import numpy as np
import torch
from torch import Tensor

from polyvox.models.speechlm.neucodec import NeuCodec, NeuCodecConfig, load_neucodec

_STRIDE = 1_000_003
_HEAD_GAIN = 0.5


@cache
def seeded_codec(config: NeuCodecConfig, seed: int, quantised: int = 32) -> NeuCodec:
    """A decoder for tests."""
    return load_neucodec(config, seeded_codec_state(config, seed, quantised))


def seeded_codec_state(config: NeuCodecConfig, seed: int, quantised: int = 32) -> dict[str, Tensor]:
    """The state dict of a decoder as it is published; `quantised` is the width between its two first maps."""
    state = {name: drawn(name, shape, seed) for name, shape in _shapes(config, quantised).items()}
    state["generator.head.out.weight"] *= _HEAD_GAIN
    state["generator.head.istft.window"] = torch.hann_window(config.fft)
    return state


def drawn(name: str, shape: tuple[int, ...], seed: int) -> Tensor:
    """Matrices and kernels are normal with the variance 1 / fan-in, gains uniform around 1, biases small."""
    random = np.random.RandomState((zlib.crc32(name.encode()) + seed * _STRIDE) % 2**32)
    if len(shape) > 1:
        values = random.standard_normal(shape) / math.sqrt(math.prod(shape[1:]))
    elif name.endswith("bias"):
        values = 0.1 * random.standard_normal(shape)
    else:
        values = random.uniform(0.7, 1.3, shape)
    return torch.from_numpy(values.astype(np.float32))


def _shapes(config: NeuCodecConfig, quantised: int) -> dict[str, tuple[int, ...]]:
    hidden, backbone = config.hidden, "generator.backbone"
    shapes = _linear("generator.quantizer.project_in", quantised, 8)
    shapes |= _linear("generator.quantizer.project_out", 8, quantised)
    shapes |= _linear("fc_post_a", quantised, hidden)
    shapes |= _conv(f"{backbone}.embed", hidden, 7)
    for net in ("prior_net.0", "prior_net.1", "post_net.0", "post_net.1"):
        shapes |= _norm(f"{backbone}.{net}.norm1", hidden) | _conv(f"{backbone}.{net}.conv1", hidden, 3)
        shapes |= _norm(f"{backbone}.{net}.norm2", hidden) | _conv(f"{backbone}.{net}.conv2", hidden, 3)
    for block in (f"{backbone}.transformers.{index}" for index in range(config.depth)):
        shapes |= {f"{block}.att_norm.weight": (hidden,), f"{block}.ffn_norm.weight": (hidden,)}
        shapes |= {f"{block}.att.c_attn.weight": (3 * hidden, hidden), f"{block}.att.c_proj.weight": (hidden, hidden)}
        shapes |= {f"{block}.mlp.fc1.weight": (4 * hidden, hidden), f"{block}.mlp.fc2.weight": (hidden, 4 * hidden)}
    return (
        shapes | _norm(f"{backbone}.final_layer_norm", hidden) | _linear("generator.head.out", hidden, config.fft + 2)
    )


def _linear(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _conv(name: str, hidden: int, kernel: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (hidden, hidden, kernel), f"{name}.bias": (hidden,)}


def _norm(name: str, hidden: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (hidden,), f"{name}.bias": (hidden,)}
