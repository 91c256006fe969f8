"""The GPU's kernels for one token of a language model, interpreted: what the plain network makes of the same rows."""

from dataclasses import replace

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers import interpreted_triton  # noqa: E402
from polyvox.models.qwen import qwen_kernels  # noqa: E402
from polyvox.models.qwen.fused import FusedQwen  # noqa: E402
from polyvox.models.qwen.model import Qwen, QwenConfig  # noqa: E402
from polyvox.runtime.kv_cache import KvCache, SlotMapping  # noqa: E402

QWEN3 = QwenConfig(
    vocabulary=8,
    hidden=48,
    feed_forward=80,
    layers=2,
    heads=6,
    key_heads=2,
    head_width=16,
    qk_norm=True,
    qkv_bias=False,
)
QWEN2 = QwenConfig(vocabulary=8, hidden=24, feed_forward=40, layers=2, heads=14, key_heads=2, head_width=8)
ONE_LAYER = replace(QWEN3, layers=1)
CLOSE = {torch.float32: 1e-5, torch.float16: 1e-2}
CAPACITY = 200


@pytest.fixture(autouse=True)
def several_splits(monkeypatch):
    """Rows that end within the first, a later and the last of four splits, each of two blocks of keys."""
    interpreted_triton.mend(monkeypatch)
    monkeypatch.setattr(qwen_kernels, "SPLIT", 64)
    monkeypatch.setattr(qwen_kernels, "_KEY_BLOCK", 32)


def network(config, dtype=torch.float32):
    chance = torch.Generator().manual_seed(1)
    made = Qwen(config).requires_grad_(False).eval()
    for parameter in made.parameters():
        if parameter.dim() > 1:
            parameter.normal_(std=parameter.shape[1] ** -0.5, generator=chance)
        else:
            parameter.normal_(mean=1.0, std=0.3, generator=chance)
    return made.to(dtype)


def filled(config, dtype=torch.float32, slots=5, capacity=CAPACITY):
    """A memory whose every place holds something, so that a look at the wrong one tells."""
    cache = KvCache(config, slots, capacity, dtype, torch.device("cpu"))
    chance = torch.Generator().manual_seed(2)
    for tensor in cache.tensors:
        tensor.copy_(torch.randn(tensor.shape, generator=chance))
    return cache


@torch.inference_mode()
def both(config, slots, positions, dtype=torch.float32, extent=CAPACITY, capacity=CAPACITY):
    """What the plain network and the kernels make of the same rows, and of their memories."""
    model = network(config, dtype)
    plain, fused = (filled(config, dtype, capacity=capacity) for _ in range(2))
    rows = torch.randn(len(slots), config.hidden, generator=torch.Generator().manual_seed(3)).to(dtype)
    slots, positions = torch.tensor(slots), torch.tensor(positions)
    mapping = SlotMapping(slots, slots[:, None], positions[:, None], extent)
    wanted = model.decode(rows[:, None], plain.memory(mapping), mapping.positions, mapping.mask)[:, 0]
    got = FusedQwen(model, fused.tensors, qwen_kernels).decode(rows.clone(), slots, positions, extent)
    return wanted, got, plain.tensors, fused.tensors


@pytest.mark.slow
@pytest.mark.parametrize(("config", "dtype"), [(QWEN2, torch.float32), (QWEN3, torch.float32), (QWEN3, torch.float16)])
@pytest.mark.parametrize(
    ("slots", "positions", "layers"), [([3, 5], [130, 198], 2), ([2], [0], 1)], ids=["many", "first"]
)
def test_the_kernels_are_the_network(config, dtype, slots, positions, layers):
    wanted, got, plain, fused = both(replace(config, layers=layers), slots, positions, dtype)
    assert got.dtype == dtype
    assert (got - wanted).abs().max() <= CLOSE[dtype] * wanted.abs().max()
    for theirs, ours in zip(plain, fused, strict=True):
        assert (theirs - ours).abs().max() <= CLOSE[dtype] * theirs.abs().max()


@pytest.mark.long
@pytest.mark.parametrize("config", [QWEN2, QWEN3], ids=["Qwen2", "Qwen3"])
def test_a_short_memory_is_attended_to_at_once(config):
    for slots, positions in (([3, 0, 5], [11, 0, 15]), ([2], [15])):
        wanted, got, plain, fused = both(replace(config, layers=1), slots, positions, extent=16, capacity=16)
        assert (got - wanted).abs().max() <= 1e-5 * wanted.abs().max()
        for theirs, ours in zip(plain, fused, strict=True):
            assert (theirs - ours).abs().max() <= 1e-5 * theirs.abs().max()


@pytest.mark.long
@torch.inference_mode()
def test_rounding_to_float8_is_that_of_the_plain_operations_alone_and_in_company():
    model, slots, positions = network(ONE_LAYER), torch.tensor([1, 4]), torch.tensor([70, 3])
    rows = torch.randn(2, ONE_LAYER.hidden, generator=torch.Generator().manual_seed(3))

    def decoded(count, *, float8=True):
        fused = FusedQwen(model, filled(ONE_LAYER).tensors, qwen_kernels, float8=float8)
        return fused.decode(rows[:count].clone(), slots[:count], positions[:count], CAPACITY)

    exact, many, one = decoded(2, float8=False), decoded(2), decoded(1)
    error = (many - exact).square().mean().sqrt() / exact.std()
    assert 1e-2 < error < 0.25, "it is rounded, and no more than that"
    assert (one - many[:1]).abs().max() <= 1e-3 * many.abs().max()


@pytest.mark.slow
@torch.inference_mode()
def test_pieces_of_prompts_are_read_as_by_the_network():
    model, plain, fused = network(QWEN3), filled(QWEN3), filled(QWEN3)
    rows = torch.randn(2, 3, QWEN3.hidden, generator=torch.Generator().manual_seed(4))
    slots, positions = torch.tensor([4, 1]), torch.tensor([[60, 61, 62], [0, 1, 1]])
    write_slots = torch.tensor([[4, 4, 4], [1, 1, plain.spare]])
    mapping = SlotMapping(slots, write_slots, positions, 70)
    wanted = model.decode(rows, plain.memory(mapping), positions, mapping.mask)
    got = FusedQwen(model, fused.tensors, qwen_kernels).prefill(
        rows.clone(), slots, write_slots, positions, 70, mapping.mask
    )
    there = write_slots != plain.spare
    assert (got - wanted)[there].abs().max() <= 1e-5 * wanted.abs().max()
    for theirs, ours in zip(plain.tensors, fused.tensors, strict=True):
        assert (theirs - ours)[: plain.spare].abs().max() <= 1e-5 * theirs.abs().max()


@pytest.mark.long
def test_a_row_does_not_depend_on_how_far_others_reach():
    _, short, _, _ = both(QWEN3, [1, 4], [60, 3], extent=61)
    _, long, _, _ = both(QWEN3, [1, 4], [60, 3], extent=CAPACITY)
    assert torch.equal(short, long)


def test_the_model_goes_on_working_on_weights_that_lie_side_by_side():
    model = network(QWEN2)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    FusedQwen(model, filled(QWEN2).tensors, qwen_kernels)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_a_memory_of_another_depth_is_refused():
    with pytest.raises(ValueError, match="keys and values for each layer"):
        FusedQwen(network(QWEN2), filled(QWEN2).tensors[:2], qwen_kernels)
