"""Drawing tokens: the random numbers, the rules, and that no row minds its neighbours."""

from dataclasses import fields

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.examples import examples
from polyvox.runtime.sampling.sampler import FEW_CANDIDATES, UNIFORM_BITS, Sampler, SamplingPlan, sample_index, uniforms
from polyvox.runtime.tokens import GenerationLimits, SamplingParams

CPU = torch.device("cpu")
WORDS = 2**64


def split_mix(seed, step, stream):
    """The same number by Python's integers."""

    def mixed(bits):
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % WORDS
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % WORDS
        return bits ^ (bits >> 31)

    return (mixed((mixed(seed) + (2 * step + stream + 1) * 0x9E3779B97F4A7C15) % WORDS) >> 40) / 2**24


@settings(deadline=None)
@given(seed=st.integers(0, 2**63 - 1), step=st.integers(0, 100_000), stream=st.sampled_from([0, 1]))
def test_a_random_number_depends_on_seed_and_step_alone(seed, step, stream):
    expected = split_mix(seed, step, stream)
    assert 0 <= expected < 1
    alone = uniforms(torch.tensor([seed]), torch.tensor([step]), stream)
    among = uniforms(torch.tensor([1, seed, 2]), torch.tensor([step, step, 0]), stream)
    assert alone.item() == among[1].item() == expected


def test_random_numbers_are_spread_evenly_over_steps_and_over_seeds():
    counting = torch.arange(20_000)
    for numbers in (
        uniforms(torch.full_like(counting, 7), counting, 0),
        uniforms(counting, torch.full_like(counting, 3), 0),
        uniforms(torch.full_like(counting, 7), counting, 1),
    ):
        shares = numbers.histc(20, 0, 1) / len(numbers)
        assert (shares - 0.05).abs().max() < 0.006
    first, second = (uniforms(torch.full_like(counting, 7), counting, stream) for stream in (0, 1))
    assert torch.corrcoef(torch.stack((first, second)))[0, 1].abs() < 0.02
    assert torch.corrcoef(torch.stack((first[1:], first[:-1])))[0, 1].abs() < 0.02


def sampler(*rules, vocabulary=8, seen=()):
    made = Sampler(len(rules), vocabulary, CPU)
    for slot, rule in enumerate(rules):
        made.start(slot, rule, rule.seed or 0, seen)
        made.set_limits(slot, GenerationLimits(max_tokens=10**6))
    return made


def draws(rule, logits, count=4_000, *, seen=(), limits=None):
    """`count` sequences with a seed each, all of which draw their first token from the same logits."""
    made = Sampler(count, len(logits), CPU)
    made.start(0, rule, 0, seen)
    made.set_limits(0, limits or GenerationLimits(max_tokens=10))
    for field in fields(made.state):
        table = getattr(made.state, field.name)
        table[:] = table[0].clone()
    made.state.int_params[:, 0] = torch.arange(count)
    plan = SamplingPlan.of([rule], len(logits))
    return made.sample(torch.tensor(logits).expand(count, -1), torch.arange(count), plan)


def shares(tokens, vocabulary):
    return (torch.bincount(tokens, minlength=vocabulary) / len(tokens)).tolist()


LOGITS = [2.0, 1.0, 0.0, -1.0, 0.5, -3.0]


def test_tokens_are_as_frequent_as_they_are_likely():
    likely = torch.tensor(LOGITS).softmax(-1).tolist()
    assert shares(draws(SamplingParams(), LOGITS), 6) == pytest.approx(likely, abs=0.025)


def test_temperature_sharpens_and_zero_takes_the_likeliest():
    likely = (torch.tensor(LOGITS) / 0.6).softmax(-1).tolist()
    assert shares(draws(SamplingParams(temperature=0.6), LOGITS), 6) == pytest.approx(likely, abs=0.025)
    assert set(draws(SamplingParams(temperature=0.0), LOGITS).tolist()) == {0}


def test_top_k_and_top_p_leave_the_likeliest():
    assert set(draws(SamplingParams(top_k=3), LOGITS).tolist()) == {0, 1, 4}
    assert set(draws(SamplingParams(top_p=0.75), LOGITS).tolist()) == {0, 1}
    assert set(draws(SamplingParams(top_k=2, top_p=0.99), LOGITS).tolist()) == {0, 1}
    assert set(draws(SamplingParams(top_p=1e-6), LOGITS).tolist()) == {0}
    assert set(draws(SamplingParams(top_k=6), LOGITS).tolist()) == set(range(6))


def test_min_p_leaves_what_is_likely_beside_the_likeliest_before_top_p():
    assert set(draws(SamplingParams(min_p=0.3), LOGITS).tolist()) == {0, 1}
    assert set(draws(SamplingParams(min_p=0.1), LOGITS).tolist()) == {0, 1, 2, 4}
    assert set(draws(SamplingParams(min_p=1.0), LOGITS).tolist()) == {0}
    kept = torch.tensor([LOGITS[0], LOGITS[1]]).softmax(-1).tolist()
    assert shares(draws(SamplingParams(min_p=0.3), LOGITS), 6)[:2] == pytest.approx(kept, abs=0.025)


def test_guided_logits_are_moved_away_from_those_without_guidance():
    every = (SamplingParams(temperature=0.0, guidance=weight) for weight in (0.0, 0.5, 2.0))
    made = sampler(*every, vocabulary=3)
    logits = torch.tensor([[1.0, 0.8, 0.5], [1.0, 0.6, 0.0]]).expand(3, 2, 3)
    plan = SamplingPlan(0, redraws=False)
    assert made.sample(logits, torch.arange(3), plan).tolist() == [0, 0, 2]


def test_a_late_penalty_changes_what_the_limits_leave_and_not_which_tokens_they_leave():
    rule = SamplingParams(top_k=2, repetition_penalty=8.0)
    plan = SamplingPlan.of([rule], 6)
    found = {}
    for late in (False, True):
        made = Sampler(1, 6, CPU, nested=True, late_penalty=late)
        made.start(0, rule, 0, (0,))
        made.set_limits(0, GenerationLimits(max_tokens=10**6))
        found[late] = set()
        for _ in range(200):
            made.state.seen.fill_(False)
            made.state.seen[0, 0] = True
            found[late].add(made.sample(torch.tensor([LOGITS]), torch.tensor([0]), plan).item())
    assert found == {False: {1, 4}, True: {0, 1}}


def test_what_was_seen_is_penalised_as_vllm_does():
    penalised = torch.tensor([2.0 / 1.5, 1.0, 0.0, -1.0 * 1.5, 0.5, -3.0]).softmax(-1).tolist()
    found = shares(draws(SamplingParams(repetition_penalty=1.5), LOGITS, seen=(0, 3)), 6)
    assert found == pytest.approx(penalised, abs=0.025)


def test_banned_tokens_are_never_drawn_and_ends_not_before_the_least_length():
    limits = GenerationLimits(max_tokens=9, min_tokens=2, stop_tokens=frozenset({0}), banned_tokens=frozenset({1}))
    assert set(draws(SamplingParams(), LOGITS, limits=limits).tolist()) == {2, 3, 4, 5}
    made = sampler(SamplingParams(temperature=0.0), vocabulary=6)
    made.set_limits(0, limits)
    logits, slots, plan = torch.tensor([LOGITS]), torch.tensor([0]), SamplingPlan(0, redraws=False)
    assert [made.sample(logits, slots, plan).item() for _ in range(4)] == [4, 4, 0, 0]
    made.set_limits(0, limits)
    assert [made.sample(logits, slots, plan).item() for _ in range(3)] == [4, 4, 0]


def test_of_several_ends_only_those_that_are_held_wait_for_the_least_length():
    limits = GenerationLimits(max_tokens=9, min_tokens=2, stop_tokens=frozenset({0, 1}), held_tokens=frozenset({0}))
    assert set(draws(SamplingParams(), LOGITS, limits=limits).tolist()) == {1, 2, 3, 4, 5}


@pytest.mark.long
def test_a_token_that_fills_the_window_is_drawn_again_from_the_others():
    rule = SamplingParams(top_k=1, repeat_window=4, repeat_share=0.5, seed=3)
    made = sampler(rule, vocabulary=6)
    plan = SamplingPlan.of([rule], 6)
    tokens = [made.sample(torch.tensor([LOGITS]), torch.tensor([0]), plan).item() for _ in range(200)]
    assert tokens[:2] == [0, 0]
    for place in range(200):
        if tokens[max(0, place - 4) : place].count(0) >= 2:
            assert tokens[place] != 0
        else:
            assert tokens[place] == 0
    assert set(tokens) >= {0, 1, 2, 4}


@pytest.mark.long
def test_a_row_draws_the_same_whatever_its_neighbours_ask_for():
    rules = [
        SamplingParams(seed=1),
        SamplingParams(seed=2, top_k=3),
        SamplingParams(temperature=0.0),
        SamplingParams(seed=4, top_p=0.8, repetition_penalty=1.3),
        SamplingParams(seed=5, top_k=2, repeat_window=5),
        SamplingParams(seed=6, temperature=1.7),
        SamplingParams(seed=7, min_p=0.1, top_p=0.9),
    ]
    logits = torch.randn(30, len(rules), 100, generator=torch.Generator().manual_seed(0))
    together = sampler(*rules, vocabulary=100)
    plan = SamplingPlan.of(rules, 100)
    assert plan == SamplingPlan(100, redraws=True, floors=True)
    everyone = torch.arange(len(rules))
    mixed = torch.stack([together.sample(each, everyone, plan) for each in logits], dim=1).tolist()
    for place, rule in enumerate(rules):
        alone = sampler(rule, vocabulary=100)
        own = SamplingPlan.of([rule], 100)
        assert [alone.sample(each[place : place + 1], torch.tensor([0]), own).item() for each in logits] == mixed[place]


def test_a_batch_does_no_more_work_than_its_rules_ask_for():
    assert SamplingPlan.of([SamplingParams(), SamplingParams(temperature=0)], 1000) == SamplingPlan(0, redraws=False)
    assert SamplingPlan.of([SamplingParams(top_k=25), SamplingParams()], 1000) == SamplingPlan(
        FEW_CANDIDATES, redraws=False
    )
    assert SamplingPlan.of([SamplingParams(top_k=25), SamplingParams(top_p=0.9)], 1000).candidates == 1000
    assert SamplingPlan.of([SamplingParams(top_k=300)], 1000).candidates == 1000
    assert SamplingPlan.of([SamplingParams(top_k=25)], 20).candidates == 20
    assert SamplingPlan.of([SamplingParams(repeat_window=3)], 1000).redraws


@pytest.mark.long
@given(
    weights=st.lists(st.sampled_from([0.0, 1e-30, 0.1, 0.3, 1.0, 3.0]), min_size=1, max_size=40).filter(any),
    chance=st.sampled_from([0.0, 0.3, 0.999, 1 - 2**-24]),
)
@examples(200)
def test_no_token_without_weight_is_ever_picked(weights, chance):
    index = sample_index(torch.tensor([weights]), torch.tensor([chance])).item()
    assert weights[index] > 0


def test_the_greatest_uniform_number_stays_below_every_sum_of_weights():
    """Exponents only scale a product: the significands of one of them are all that there are."""
    sums = torch.arange(2**23, dtype=torch.int32).add(0x3F800000).view(torch.float32)
    greatest = (2**UNIFORM_BITS - 1) * 2.0**-UNIFORM_BITS
    assert greatest == 1 - 2**-24
    assert not sample_index(sums[:, None], torch.full_like(sums, greatest)).any()
