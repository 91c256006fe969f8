import torch

from polyvox.models.cache import LayerCache, nbytes
from polyvox.models.qwen.model import Qwen, QwenConfig, QwenState

TINY = {"vocabulary": 50, "hidden": 24, "feed_forward": 32, "layers": 2, "heads": 4, "key_heads": 2, "head_width": 8}


def qwen(**options):
    torch.manual_seed(0)
    return Qwen(QwenConfig(**TINY, **options)).requires_grad_(False)


def rows(length, batch=1):
    return torch.randn(batch, length, 24, generator=torch.Generator().manual_seed(1))


def test_a_sequence_in_pieces_equals_the_sequence_at_once():
    model = qwen()
    whole, state = model(rows(9), QwenState())
    pieces, past = [], QwenState()
    for piece in rows(9).split([4, 1, 3, 1], dim=1):
        out, past = model(piece, past)
        pieces.append(out)
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, atol=1e-5, rtol=0)
    assert past.length == state.length == 9
    assert nbytes(past.kept) == 2 * 2 * 2 * 9 * 8 * 4


def test_a_state_can_be_continued_twice():
    model = qwen()
    _, state = model(rows(4), QwenState())
    first, _ = model(rows(6)[:, 4:], state)
    again, _ = model(rows(6)[:, 4:], state)
    assert torch.equal(first, again)


def test_padding_behind_a_mask_does_not_leak():
    model = qwen()
    alone, _ = model(rows(5), QwenState())
    padded = torch.cat((torch.full((1, 3, 24), 9.0), rows(5)), dim=1)
    mask = torch.ones(8, 8, dtype=torch.bool).tril()
    mask[3:, :3] = False
    out = model.decode(padded, LayerCache(), torch.tensor([[0, 0, 0, 0, 1, 2, 3, 4]]), mask)
    torch.testing.assert_close(out[:, 3:], alone, atol=1e-5, rtol=0)


def test_qwen3_has_norms_for_queries_and_keys_and_no_biases():
    names = set(qwen(qkv_bias=False, qk_norm=True).state_dict())
    assert "layers.0.self_attn.q_norm.weight" in names
    assert "layers.0.self_attn.q_proj.bias" not in names
    assert "layers.0.self_attn.q_norm.weight" not in set(qwen().state_dict())
