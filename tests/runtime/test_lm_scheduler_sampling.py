"""Drawing tokens: the random numbers, the rules, and that no row minds its neighbours."""

from dataclasses import fields

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from polyvox.runtime.sampling import FEW, Sampler, Steps, pick, uniforms
from polyvox.runtime.tokens import Limits, Sampling

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
        made.begin(slot, rule, rule.seed or 0, seen)
        made.limit(slot, Limits(most=10**6))
    return made


def draws(rule, scores, count=4_000, *, seen=(), limits=None):
    """`count` sequences with a seed each, all of which draw their first token from the same scores."""
    made = Sampler(count, len(scores), CPU)
    made.begin(0, rule, 0, seen)
    made.limit(0, limits or Limits(most=10))
    for field in fields(made.tables):
        table = getattr(made.tables, field.name)
        table[:] = table[0].clone()
    made.tables.counts[:, 0] = torch.arange(count)
    steps = Steps.for_all([rule], len(scores))
    return made.draw(torch.tensor(scores).expand(count, -1), torch.arange(count), steps)


def shares(tokens, vocabulary):
    return (torch.bincount(tokens, minlength=vocabulary) / len(tokens)).tolist()


SCORES = [2.0, 1.0, 0.0, -1.0, 0.5, -3.0]


def test_tokens_are_as_frequent_as_they_are_likely():
    likely = torch.tensor(SCORES).softmax(-1).tolist()
    assert shares(draws(Sampling(), SCORES), 6) == pytest.approx(likely, abs=0.025)


def test_temperature_sharpens_and_zero_takes_the_likeliest():
    likely = (torch.tensor(SCORES) / 0.6).softmax(-1).tolist()
    assert shares(draws(Sampling(temperature=0.6), SCORES), 6) == pytest.approx(likely, abs=0.025)
    assert set(draws(Sampling(temperature=0.0), SCORES).tolist()) == {0}


def test_top_k_and_top_p_leave_the_likeliest():
    assert set(draws(Sampling(top_k=3), SCORES).tolist()) == {0, 1, 4}
    assert set(draws(Sampling(top_p=0.75), SCORES).tolist()) == {0, 1}
    assert set(draws(Sampling(top_k=2, top_p=0.99), SCORES).tolist()) == {0, 1}
    assert set(draws(Sampling(top_p=1e-6), SCORES).tolist()) == {0}
    assert set(draws(Sampling(top_k=6), SCORES).tolist()) == set(range(6))


def test_what_was_seen_is_penalised_as_vllm_does():
    penalised = torch.tensor([2.0 / 1.5, 1.0, 0.0, -1.0 * 1.5, 0.5, -3.0]).softmax(-1).tolist()
    found = shares(draws(Sampling(repetition_penalty=1.5), SCORES, seen=(0, 3)), 6)
    assert found == pytest.approx(penalised, abs=0.025)


def test_banned_tokens_are_never_drawn_and_ends_not_before_the_least_length():
    limits = Limits(most=9, least=2, ends=frozenset({0}), banned=frozenset({1}))
    assert set(draws(Sampling(), SCORES, limits=limits).tolist()) == {2, 3, 4, 5}
    made = sampler(Sampling(temperature=0.0), vocabulary=6)
    made.limit(0, limits)
    scores, slots, steps = torch.tensor([SCORES]), torch.tensor([0]), Steps(0, redraws=False)
    assert [made.draw(scores, slots, steps).item() for _ in range(4)] == [4, 4, 0, 0]
    made.limit(0, limits)
    assert [made.draw(scores, slots, steps).item() for _ in range(3)] == [4, 4, 0]


def test_of_several_ends_only_those_that_are_held_wait_for_the_least_length():
    limits = Limits(most=9, least=2, ends=frozenset({0, 1}), held=frozenset({0}))
    assert set(draws(Sampling(), SCORES, limits=limits).tolist()) == {1, 2, 3, 4, 5}


def test_a_token_that_fills_the_window_is_drawn_again_from_the_others():
    rule = Sampling(top_k=1, repeat_window=4, repeat_share=0.5, seed=3)
    made = sampler(rule, vocabulary=6)
    steps = Steps.for_all([rule], 6)
    tokens = [made.draw(torch.tensor([SCORES]), torch.tensor([0]), steps).item() for _ in range(200)]
    assert tokens[:2] == [0, 0]
    for place in range(200):
        if tokens[max(0, place - 4) : place].count(0) >= 2:
            assert tokens[place] != 0
        else:
            assert tokens[place] == 0
    assert set(tokens) >= {0, 1, 2, 4}


def test_a_row_draws_the_same_whatever_its_neighbours_ask_for():
    rules = [
        Sampling(seed=1),
        Sampling(seed=2, top_k=3),
        Sampling(temperature=0.0),
        Sampling(seed=4, top_p=0.8, repetition_penalty=1.3),
        Sampling(seed=5, top_k=2, repeat_window=5),
        Sampling(seed=6, temperature=1.7),
    ]
    scores = torch.randn(30, len(rules), 100, generator=torch.Generator().manual_seed(0))
    together = sampler(*rules, vocabulary=100)
    steps = Steps.for_all(rules, 100)
    assert steps == Steps(100, redraws=True)
    everyone = torch.arange(len(rules))
    mixed = torch.stack([together.draw(each, everyone, steps) for each in scores], dim=1).tolist()
    for place, rule in enumerate(rules):
        alone = sampler(rule, vocabulary=100)
        own = Steps.for_all([rule], 100)
        assert [alone.draw(each[place : place + 1], torch.tensor([0]), own).item() for each in scores] == mixed[place]


def test_a_batch_does_no_more_work_than_its_rules_ask_for():
    assert Steps.for_all([Sampling(), Sampling(temperature=0)], 1000) == Steps(0, redraws=False)
    assert Steps.for_all([Sampling(top_k=25), Sampling()], 1000) == Steps(FEW, redraws=False)
    assert Steps.for_all([Sampling(top_k=25), Sampling(top_p=0.9)], 1000).candidates == 1000
    assert Steps.for_all([Sampling(top_k=300)], 1000).candidates == 1000
    assert Steps.for_all([Sampling(top_k=25)], 20).candidates == 20
    assert Steps.for_all([Sampling(repeat_window=3)], 1000).redraws


@settings(deadline=None, max_examples=200)
@given(
    weights=st.lists(st.sampled_from([0.0, 1e-30, 0.1, 0.3, 1.0, 3.0]), min_size=1, max_size=40).filter(any),
    chance=st.sampled_from([0.0, 0.3, 0.999, 1 - 2**-24]),
)
def test_no_token_without_weight_is_ever_picked(weights, chance):
    index = pick(torch.tensor([weights]), torch.tensor([chance])).item()
    assert weights[index] > 0
