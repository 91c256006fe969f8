"""A tiny seeded language model for tests."""

from functools import cache

import torch
from torch import Tensor

from helpers.seeded_codec import drawn
from polyvox.models.qwen.model import QwenConfig
from polyvox.models.speechlm.codec_lm import CodecLm, CodecLmConfig, load_codec_lm

TEXT_IDS = 40
"""Ids below this are text; then come the codec's tokens."""


def tiny_config(codes: int = 50, end: int = 3) -> CodecLmConfig:
    backbone = QwenConfig(
        vocabulary=TEXT_IDS + codes,
        hidden=32,
        feed_forward=64,
        layers=2,
        heads=4,
        key_heads=2,
        head_width=8,
        qkv_bias=False,
        qk_norm=True,
    )
    return CodecLmConfig(first_code=TEXT_IDS, end=end, codes=codes, backbone=backbone)


def tiny_state(config: CodecLmConfig, seed: int = 5, gain: float = 4.0) -> dict[str, Tensor]:
    """The state dict as it is published; a greater gain makes some tokens much likelier than others."""
    with torch.device("meta"):
        names = CodecLm(config).backbone.state_dict()
    state = {f"model.{name}": drawn(f"model.{name}", tuple(value.shape), seed) for name, value in names.items()}
    state["lm_head.weight"] = gain * drawn("lm_head.weight", (config.backbone.vocabulary, config.backbone.hidden), seed)
    return state


@cache
def tiny_lm(seed: int = 5) -> CodecLm:
    return load_codec_lm(tiny_config(), tiny_state(tiny_config(), seed))
