"""Sampled tokens on their way from a step to the reader of their sequence."""

import asyncio

import pytest

from helpers.tables import each_row
from polyvox.runtime.lm_sequence import LmSequence
from polyvox.runtime.sampling.sampler import NO_TOKEN
from polyvox.runtime.tokens import GenerationLimits, SamplingParams, TokenStream

pytestmark = pytest.mark.anyio
STOP = 9


def sequence(most=10):
    """One whose prompt is in the KV cache, and for which six tokens are coming."""
    made = LmSequence(lambda *_: TokenStream(), 0, SamplingParams())
    made.limits = GenerationLimits(most, stop_tokens=frozenset({STOP}))
    made.stream = TokenStream()
    made.cached, made.coming = 100, 6
    return made


@each_row(
    ("tokens", "most", "read", "taken", "over", "pending"),
    [
        ([1, 2, 3, 4], 10, [1, 2, 3, 4], 4, False, True),
        ([1, 2, 3, 4], 3, [1, 2, 3], 3, True, True),
        ([1, STOP, 3, 4], 10, [1], 2, True, False),
        ([STOP, 2], 10, [], 1, True, False),
        ([1, 2, STOP], 2, [1, 2], 2, True, True),
        ([[1, 5], [2, STOP]], 10, [1, 5, 2, STOP], 2, False, True),
        ([[1, 5], [STOP, 6]], 10, [1, 5], 2, True, False),
    ],
)
async def test_tokens_are_passed_on_up_to_a_stop_or_the_last_one_allowed(tokens, most, read, taken, over, pending):
    made = sequence(most)
    assert made.append_tokens(tokens, cached=1)
    assert (made.cached, made.generated, made.coming) == (100 + taken, taken, 6 - taken)
    assert (made.stream.over, made.last_pending) == (over, pending)
    made.stream.finish()
    assert await asyncio.wait_for(made.stream.read(), 1) == read


@each_row(
    ("tokens", "cached", "read"),
    [
        ([1, 2, NO_TOKEN, 4], 103, [1, 2]),
        ([NO_TOKEN, 4], 101, []),
        ([[3, 4], [NO_TOKEN, 0]], 102, [3, 4]),
    ],
)
async def test_tokens_before_one_that_failed_are_passed_on(tokens, cached, read):
    made = sequence()
    assert not made.append_tokens(tokens, cached=1)
    assert made.cached == cached
    assert not made.stream.over
    made.stream.finish()
    assert await asyncio.wait_for(made.stream.read(), 1) == read


async def test_the_token_behind_a_prompt_is_not_in_the_cache():
    made = sequence()
    assert made.append_tokens([1], cached=0)
    assert (made.cached, made.generated, made.last_pending) == (100, 1, True)
