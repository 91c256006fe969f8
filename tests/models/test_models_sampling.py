import torch

from helpers.repetition_aware import draw, nucleus, pick
from helpers.tables import each_row
from polyvox.models.cosyvoice.sampling import SamplingConfig

CONFIG = SamplingConfig(top_k=4)
PROBABILITIES = torch.tensor([[0.05, 0.5, 0.25, 0.1, 0.06, 0.04]])
SCORES = PROBABILITIES.log()
NOTHING = torch.full((1, 10), -1)


def uniforms(*shape, seed=0):
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_the_nucleus_ends_with_the_token_that_reaches_the_share():
    candidates = nucleus(SCORES, CONFIG)
    assert candidates.ids[candidates.weights > 0].tolist() == [1, 2, 3]


def test_the_nucleus_holds_at_most_top_k_tokens():
    assert (nucleus(torch.zeros(1, 50), CONFIG).weights > 0).sum() == 4


def test_tokens_come_in_proportion_to_their_weights():
    chosen = pick(PROBABILITIES.expand(20_000, -1), uniforms(20_000, 6))
    shares = torch.bincount(chosen, minlength=6) / 20_000
    assert (shares - PROBABILITIES[0]).abs().max() < 0.015


@each_row("dtype", [torch.float32, torch.float64])
def test_a_draw_of_zero_never_chooses_what_has_no_weight(dtype):
    weights = torch.tensor([[0.0, 0.3, 0.7]])
    assert pick(weights, torch.zeros(1, 3, dtype=dtype)).item() == 2
    assert pick(weights, torch.tensor([[0.0, 0.5, 0.5]], dtype=dtype)).item() == 2


def test_a_token_of_the_window_is_replaced_by_another_of_the_whole_vocabulary():
    recent = torch.tensor([[-1] * 7 + [1, 2, 3]]).expand(4000, -1)
    result = draw(SCORES.expand(4000, -1), recent, uniforms(4000, 4), uniforms(4000, 6, seed=1), CONFIG)
    assert result.redrawn.all()
    assert set(result.tokens.tolist()) == set(range(6))


def test_a_token_that_is_new_stays():
    result = draw(SCORES, NOTHING, uniforms(1, 4), uniforms(1, 6), CONFIG)
    assert not result.redrawn.any()
    assert result.tokens.item() in {1, 2, 3}


@each_row("seed", range(5))
def test_a_row_is_chosen_alike_alone_and_in_a_batch(seed):
    scores = torch.randn(8, 40, generator=torch.Generator().manual_seed(seed))
    recent = torch.randint(0, 40, (8, 10), generator=torch.Generator().manual_seed(seed))
    first, second = uniforms(8, 4, seed=seed), uniforms(8, 40, seed=seed + 100)
    together = draw(scores, recent, first, second, CONFIG).tokens
    for row in range(8):
        alone = draw(*(each[row : row + 1] for each in (scores, recent, first, second)), CONFIG)
        assert alone.tokens.item() == together[row].item()
