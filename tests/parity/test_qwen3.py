"""The Qwen3 decoder against transformers' on tiny seeded weights."""

from pathlib import Path

import torch
from safetensors.torch import load_file

from polyvox.models.loading import load, under
from polyvox.models.qwen.model import Qwen, QwenConfig, QwenState

CONFIG = QwenConfig(
    vocabulary=40,
    hidden=24,
    feed_forward=32,
    layers=2,
    heads=4,
    key_heads=2,
    head_width=8,
    qkv_bias=False,
    qk_norm=True,
)


def test_hidden_states_at_once_and_in_pieces():
    recorded = load_file(Path(__file__).parents[1] / "golden" / "qwen3" / "tiny.safetensors")
    model = load(lambda: Qwen(CONFIG), under("weights.", recorded))
    rows = model.embed(recorded["ids"])
    whole, _ = model(rows, QwenState())
    torch.testing.assert_close(whole, recorded["hidden"], atol=1e-5, rtol=0)
    first, state = model(rows[:, :9], QwenState())
    second, _ = model(rows[:, 9:], state)
    torch.testing.assert_close(torch.cat((first, second), dim=1), whole, atol=1e-5, rtol=0)
