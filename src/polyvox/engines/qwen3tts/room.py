"""The number of sentences at once that a GPU's memory has room for."""

import math

import torch

from polyvox.engines.qwen3tts.bundle import Qwen3TtsNetworks

_SHARE = 0.7
"""Of the free memory; the rest is for captured graphs and what they work on."""
_CODEC_SLOTS = 2
"""States of the decoder for each sentence: one that ends goes on beside the next."""


def stream_bytes(networks: Qwen3TtsNetworks, positions: int) -> int:
    """The memory of one sentence: keys and values of so many positions, and the decoder's state."""
    config, width = networks.config.talker, networks.talker.head.weight.element_size()
    kept = sum(math.prod(shape) for shape in networks.decoder.state_shapes()) * torch.float32.itemsize
    return 2 * config.layers * config.key_heads * config.head_width * width * positions + _CODEC_SLOTS * kept


def fitting_streams(asked: int, each: int, free: int) -> tuple[int, str]:
    """As many streams as asked for, or fewer that `free` bytes have room for, with a warning."""
    room = int(free * _SHARE) // each
    if room >= asked:
        return asked, ""
    fitting = max(1, room)
    return fitting, (
        f"The GPU has room for {fitting} sentences at once, not for {asked} (qwen3tts_streams): "
        "free some of its memory, or lower qwen3tts_max_frames."
    )
