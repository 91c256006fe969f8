"""Draws within top-k and top-p by the GPU's kernels, interpreted: the tokens are those of the plain way."""

import pytest
import torch

pytest.importorskip("triton")

from helpers import interpreted_triton
from polyvox.runtime.sampling import draw_kernels
from polyvox.runtime.sampling.sampler import NO_TOKEN, Draws, Sampler, SamplingPlan, draw, uniforms
from polyvox.runtime.tokens import GenerationLimits, SamplingParams

pytestmark = pytest.mark.long

CPU = torch.device("cpu")
VOCABULARY = 301
RULES = [
    SamplingParams(temperature=temperature, top_k=top_k, top_p=top_p, repetition_penalty=1.1)
    for temperature, top_k, top_p in ((0.0, 0, 1.0), (0.9, 50, 1.0), (1.2, 8, 0.7), (0.7, 0, 0.9), (1.0, 0, 1.0))
]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    interpreted_triton.mend(monkeypatch)


def samplers():
    made = [Sampler(len(RULES) + 1, VOCABULARY, CPU, way, nested=True) for way in (None, draw_kernels.sample_limited)]
    stops = GenerationLimits(max_tokens=6, min_tokens=2, stop_tokens=frozenset({5}), banned_tokens=frozenset({7}))
    for sampler in made:
        for slot, rule in enumerate(RULES):
            sampler.start(slot, rule, 91 * slot + 5, (1, 2))
            sampler.set_limits(slot, stops)
    return made


def test_tokens_and_what_is_remembered_are_the_plain_ways():
    plain, fused = samplers()
    plan, slots = SamplingPlan.of(RULES, VOCABULARY), torch.tensor([4, 0, 2, 1, 3])
    chance = torch.Generator().manual_seed(3)
    for _ in range(4):
        logits = 3 * torch.randn(5, VOCABULARY, generator=chance)
        assert fused.sample(logits, slots, plan).tolist() == plain.sample(logits, slots, plan).tolist()
    for name in ("int_params", "seen", "recent", "last", "ended"):
        assert torch.equal(getattr(fused.state, name), getattr(plain.state, name)), name


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_row_that_is_not_finite_ends_alone():
    _, fused = samplers()
    logits = 3 * torch.randn(5, VOCABULARY, generator=torch.Generator().manual_seed(5))
    logits[2, 9] = float("nan")
    drawn = fused.sample(logits, torch.arange(5), SamplingPlan.of(RULES, VOCABULARY)).tolist()
    assert [token == NO_TOKEN for token in drawn] == [False, False, True, False, False]


def test_codes_are_those_of_the_plain_draw():
    seeds, steps = torch.tensor([5, 6, 7, 8]), torch.tensor([0, 3, 9, 2])
    limits = torch.tensor([[0.9, 1.0], [1.1, 0.8], [0.0, 1.0], [0.6, 0.5]])
    top_k, slots = torch.tensor([50, 20, 50, VOCABULARY]), torch.tensor([3, 1, 0, 2])
    logits = 3 * torch.randn(4, VOCABULARY, generator=torch.Generator().manual_seed(8))
    for group in (1, 2):
        got = draw_kernels.draw_codes(logits, slots, seeds, steps, limits, top_k, (16, group))
        uniform = uniforms(seeds[slots], steps[slots] * 16 + group, 0)
        draws = Draws(limits[slots, 0], top_k[slots], limits[slots, 1], uniform)
        assert got.tolist() == draw(logits, draws, VOCABULARY, nested=True).tolist()
