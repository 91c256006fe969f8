"""Sequences through the GPU's kernels, interpreted: the tokens are those of the plain runtime."""

import asyncio
import functools
from dataclasses import replace

import pytest
import torch

pytest.importorskip("triton")

from test_lm_scheduler import SIXTEEN, limits, runtime, spoken

from helpers import interpreted_triton
from helpers.tiny_lm import tiny_lm
from polyvox.models.chatterbox.fused_gpt2 import FusedGpt2
from polyvox.models.chatterbox.gpt2 import Gpt2, Gpt2Config
from polyvox.models.qwen import qwen_kernels
from polyvox.models.qwen.model import Qwen, RopeScaling
from polyvox.runtime import lm_scheduler
from polyvox.runtime.executors import fused_lm
from polyvox.runtime.executors.fused_lm import fused_backbone, fused_sampling, verified_backbone, verified_sampling
from polyvox.runtime.guidance import GuidedBackbone
from polyvox.runtime.kv_cache import KvCache, SlotMapping
from polyvox.runtime.sampling import sampling_kernels
from polyvox.runtime.sampling.sampler import NO_TOKEN, Sampler, SamplingPlan
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams

CPU = torch.device("cpu")
PLAIN = SamplingPlan(0, redraws=False)
VOCABULARY = 301


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    interpreted_triton.mend(monkeypatch)
    monkeypatch.setattr(fused_lm, "_PROBE_POSITIONS", 2)


@pytest.fixture(params=[128, 512], ids=["three blocks", "one block"])
def block(request, monkeypatch):
    """How much of the vocabulary one program sums up."""
    monkeypatch.setattr(sampling_kernels, "_BLOCK", request.param)


def samplers(*rules, vocabulary=VOCABULARY):
    """The same sequences twice, drawn the plain way and by the kernel."""
    made = [Sampler(len(rules) + 1, vocabulary, CPU, way) for way in (None, sampling_kernels.sample)]
    for sampler in made:
        for slot, rule in enumerate(rules):
            sampler.start(slot, rule, 77 * slot + 3, (1, 2, 3))
            sampler.set_limits(
                slot,
                GenerationLimits(
                    max_tokens=6, min_tokens=2, stop_tokens=frozenset({5, 300}), banned_tokens=frozenset({7, 8})
                ),
            )
    return made


RULES = [
    SamplingParams(temperature=temperature, repetition_penalty=1 + temperature / 5)
    for temperature in (0.0, 0.1, 0.6, 1.0, 1.5)
]


@pytest.mark.long
@pytest.mark.usefixtures("block")
def test_the_kernel_draws_and_remembers_what_the_plain_way_does():
    plain, fused = samplers(*RULES)
    slots, chance = torch.tensor([4, 0, 2, 1]), torch.Generator().manual_seed(1)
    for _ in range(7):
        logits = 3 * torch.randn(4, VOCABULARY, generator=chance)
        assert fused.sample(logits, slots, PLAIN).tolist() == plain.sample(logits, slots, PLAIN).tolist()
    for name in ("int_params", "seen", "recent", "last", "ended"):
        assert torch.equal(getattr(fused.state, name), getattr(plain.state, name)), name
    assert plain.ended.tolist() == [True, True, True, False, True, False]


def test_the_kernel_reads_rows_and_slots_wherever_they_lie():
    plain, fused = samplers(*RULES)
    wide = torch.randn(2, 2 * VOCABULARY, generator=torch.Generator().manual_seed(2))
    table = torch.tensor([[3, 9], [1, 9]])
    for logits in (wide[:, :VOCABULARY], wide[:, VOCABULARY:]):
        drawn = fused.sample(logits, table[:, 0], PLAIN).tolist()
        assert drawn == plain.sample(logits, table[:, 0], PLAIN).tolist()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
@pytest.mark.usefixtures("block")
def test_a_row_that_is_not_finite_ends_alone(wrong):
    logits = 3 * torch.randn(5, VOCABULARY, generator=torch.Generator().manual_seed(5))
    broken = logits.clone()
    broken[2, 100] = wrong
    for sampler, whole in zip(samplers(*RULES), samplers(*RULES), strict=True):
        expected = whole.sample(logits, torch.arange(5), PLAIN).tolist()
        expected[2] = NO_TOKEN
        assert sampler.sample(broken, torch.arange(5), PLAIN).tolist() == expected
        assert sampler.ended.tolist() == [False, False, True, False, False, False]
        assert 0 <= sampler.last[2] < VOCABULARY


def test_a_row_is_drawn_by_the_kernel_whatever_its_neighbours_ask_for():
    asked = []

    def noting(logits, slots, state):
        asked.append(slots.tolist())
        return sampling_kernels.sample(logits, slots, state)

    rules = [SamplingParams(seed=1), SamplingParams(seed=2, top_k=5), SamplingParams(seed=3, repeat_window=8)]
    sampler = Sampler(4, VOCABULARY, CPU, noting)
    for slot, rule in enumerate(rules):
        sampler.start(slot, rule, slot, ())
        sampler.set_limits(slot, GenerationLimits(max_tokens=9))
    sampler.sample(torch.randn(3, VOCABULARY), torch.arange(3), SamplingPlan.of(rules, VOCABULARY))
    assert asked == [[0, 3, 3]], "the others' rows belong to nobody there"


def at_once(key, work, given, idle=None):
    """Where work is not tried out first: interpreted, that would take long."""
    return work(*given)


@pytest.mark.anyio
@pytest.mark.slow
async def test_sequences_of_all_kinds_are_those_of_the_plain_runtime(monkeypatch):
    cases = [(prompt[:6], rule, limits(most=3)) for prompt, rule, _ in SIXTEEN[:3]]
    async with runtime() as (lm, _):
        plain = [await spoken(lm, Prompt(prompt), rule, until) for prompt, rule, until in cases]
    monkeypatch.setattr(
        lm_scheduler, "fused_backbone", lambda model, cache, *, float8: verified_backbone(model, cache, qwen_kernels)
    )
    draw = sampling_kernels.sample
    monkeypatch.setattr(
        lm_scheduler, "fused_sampling", lambda size, device, *, nested: verified_sampling(size, device, draw)
    )
    async with runtime(replay=at_once, slots=3, capacity=64, prefill_rows=8) as (lm, _):
        fused = await asyncio.gather(*(spoken(lm, Prompt(prompt), rule, until) for prompt, rule, until in cases))
    assert fused == plain


def cache():
    return KvCache(tiny_lm().config.backbone, 2, 32, torch.float32, CPU)


@functools.cache
def one_layer():
    torch.manual_seed(1)
    return Qwen(replace(tiny_lm().config.backbone, layers=1)).requires_grad_(False).eval()


def test_nothing_is_fused_off_a_gpu():
    assert fused_backbone(tiny_lm().backbone, cache()) is None
    assert fused_sampling(50, CPU) is None


@pytest.mark.long
@torch.inference_mode()
def test_pairs_of_a_llama_are_fused_and_compute_what_the_plain_pairs_do(monkeypatch):
    monkeypatch.setattr(fused_lm, "has_triton", lambda device: True)
    torch.manual_seed(2)
    scaling = RopeScaling(positions=64)
    sizes = replace(tiny_lm().config.backbone, layers=1, key_heads=4, qk_norm=False, rope_scaling=scaling)
    guided = GuidedBackbone(Qwen(sizes).requires_grad_(False).eval())
    caches = [KvCache(guided.config, 2, 32, torch.float32, CPU) for _ in range(2)]
    fused = fused_backbone(guided, caches[1])
    assert fused is not None
    slots, rows = torch.tensor([1, 0]), torch.randn(2, 2, 2 * sizes.hidden)
    for position, row in enumerate(rows):
        where = torch.full((2,), position)
        mapping = SlotMapping(slots, slots[:, None], where[:, None], position + 1)
        plain = guided.decode(row[:, None], caches[0].memory(mapping), mapping.positions, mapping.mask)[:, 0]
        torch.testing.assert_close(fused.decode(row.clone(), slots, where, position + 1), plain, rtol=0, atol=1e-4)


@pytest.mark.long
@torch.inference_mode()
def test_a_gpt2_is_fused_and_computes_what_the_plain_one_does(monkeypatch):
    monkeypatch.setattr(fused_lm, "has_triton", lambda device: True)
    torch.manual_seed(3)
    model = Gpt2(Gpt2Config(hidden=32, layers=1, heads=2, positions=64)).requires_grad_(False).eval()
    caches = [KvCache(model.config, 2, 32, torch.float32, CPU) for _ in range(2)]
    fused = fused_backbone(model, caches[1])
    assert isinstance(fused, FusedGpt2)
    slots, rows = torch.tensor([1, 0]), torch.randn(2, 2, 32)
    for position, row in enumerate(rows):
        where = torch.full((2,), position)
        mapping = SlotMapping(slots, slots[:, None], where[:, None], position + 1)
        plain = model.decode(row[:, None], caches[0].memory(mapping), mapping.positions, mapping.mask)[:, 0]
        torch.testing.assert_close(fused.decode(row.clone(), slots, where, position + 1), plain, rtol=0, atol=1e-4)
    for one, other in zip(caches[0].tensors, caches[1].tensors, strict=True):
        torch.testing.assert_close(one[:2], other[:2], rtol=0, atol=1e-5)


class Broken:
    """Kernels that cannot be built, or that err by a factor."""

    def __init__(self, factor=None):
        self._factor = factor

    def __getattr__(self, name):
        if self._factor is None:
            raise RuntimeError("no compiler")
        return getattr(qwen_kernels, name)

    def gate_and_project(self, both, weight):
        if self._factor is None:
            raise RuntimeError("no compiler")
        return qwen_kernels.gate_and_project(both, weight) * self._factor


@pytest.mark.long
@pytest.mark.parametrize(("factor", "kept"), [(None, False), (1.1, False), (float("nan"), False), (1.0, True)])
def test_kernels_that_fail_or_err_are_not_used(factor, kept):
    small = KvCache(one_layer().config, 1, 32, torch.float32, CPU)
    assert (verified_backbone(one_layer(), small, Broken(factor)) is not None) is kept


@pytest.mark.long
def test_drawing_that_fails_or_errs_is_not_used():
    def failing(logits, slots, state):
        raise RuntimeError("no compiler")

    def other(logits, slots, state):
        return (sampling_kernels.sample(logits, slots, state) + 1) % 50

    assert verified_sampling(50, CPU, failing) is None
    assert verified_sampling(50, CPU, other) is None
    assert verified_sampling(50, CPU, sampling_kernels.sample) is sampling_kernels.sample
