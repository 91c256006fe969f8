"""Seeds of a request and of its parts."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from polyvox.engines.kit.seeds import SEED_BITS, derive_seed, request_seed

seeds = st.integers(0, 2**SEED_BITS - 1)


@given(seeds)
def test_the_first_part_keeps_the_seed(seed):
    assert derive_seed(seed, "turn", 0) == derive_seed(seed, "segment", 0) == seed


@given(seeds)
def test_turns_and_segments_of_a_dialogue_never_share_a_seed(seed):
    turns, segments = range(6), range(6)
    found = {derive_seed(derive_seed(seed, "turn", turn), "segment", part) for turn, part in product(turns, segments)}
    assert len(found) == len(turns) * len(segments)


@given(seeds, st.integers(1, 2**40))
def test_roles_do_not_share_seeds(seed, index):
    assert derive_seed(seed, "turn", index) != derive_seed(seed, "segment", index)


@given(st.integers(0, 2**70), st.sampled_from(["turn", "segment"]), st.integers(0, 10**6))
def test_seeds_are_stable_and_fit_their_bits(seed, role, index):
    part = derive_seed(request_seed(seed), role, index)
    assert part == derive_seed(request_seed(seed), role, index)
    assert 0 <= part < 2**SEED_BITS


def test_derived_seeds_do_not_change_between_releases():
    assert derive_seed(7, "turn", 1) == 8761687315251422430
    assert derive_seed(7, "segment", 1) == 8430585107778942360


def test_a_request_without_a_seed_draws_one():
    assert len({request_seed(None) for _ in range(8)}) == 8
    assert request_seed(5) == 5
    assert request_seed(2**SEED_BITS + 5) == 5
