"""A row in company equals the same row alone: whatever the others' lengths, times, guidance and speeds."""

import contextlib
import itertools

import pytest
import torch

from helpers.zipvoice_golden import DISTILLED, STEREO, difference, golden, seeded, solved, vocos, zipvoice
from polyvox.engines.zipvoice.lanes import Lanes
from polyvox.models.zipvoice.calls import calls_of
from polyvox.models.zipvoice.model import Flow, Line, Solver, schedule
from polyvox.models.zipvoice.zipformer import Extent

ROUNDING = 1e-5
VARIANTS = pytest.mark.parametrize("variant", [DISTILLED, STEREO])


def random_flow(variant, frames, seed, step, guidance):
    config, chance = zipvoice(variant).config, seeded(seed)
    mel, speech = (torch.randn(frames, config.features, generator=chance) for _ in range(2))
    text = torch.randn(frames, config.bins, generator=chance)
    return Flow(mel, text, speech, frames // 3, schedule(5, 0.5), guidance, step)


@VARIANTS
def test_rows_of_every_length_from_1_to_16_in_one_step(variant):
    guidance = itertools.cycle((0.0, 1.0, 2.5))
    flows = [random_flow(variant, frames, frames, frames % 5, next(guidance)) for frames in range(1, 17)]
    together = zipvoice(variant).step(flows)
    for flow, ours in zip(flows, together, strict=True):
        alone = zipvoice(variant).step([flow])[0]
        assert difference(ours.mel, alone.mel) <= ROUNDING


@VARIANTS
def test_the_size_of_a_call_changes_nothing(variant):
    flows = [random_flow(variant, frames, frames, frames % 5, 1.5) for frames in (9, 30, 31, 12, 4)]
    together, apart, grouped = (zipvoice(variant).step(flows, frames_per_call=budget) for budget in (None, 1, 62))
    for flow, *others in zip(together, apart, grouped, strict=True):
        assert all(difference(flow.mel, other.mel) <= ROUNDING for other in others)


def test_rows_of_similar_length_share_a_call():
    lengths = [9, 30, 31, 12, 4]
    assert calls_of(lengths, None) == [[2, 1, 3, 0, 4]]
    assert calls_of(lengths, 62) == [[2, 1], [3, 0, 4]]
    assert calls_of(lengths, 1) == [[2], [1], [3], [0], [4]]


def test_rows_are_spread_over_the_calls_of_a_time_where_they_are_enough():
    assert calls_of([9, 9], 100) == [[0, 1]]
    assert calls_of([9, 9], 100, at_a_time=2) == [[0], [1]]
    assert calls_of([9, 9, 9, 9], 100, at_a_time=2) == [[0, 1], [2, 3]]
    assert calls_of([9, 9, 9, 9], 9, at_a_time=2) == [[0], [1], [2], [3]]
    assert calls_of([9] * 8, 30, at_a_time=2) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert calls_of([9, 9], 100, at_a_time=4) == [[0, 1]]
    assert calls_of([30, 4, 31, 5], None, at_a_time=2) == [[2], [0], [3, 1]]


@VARIANTS
@pytest.mark.parametrize("together", [1, 2, 3, 7])
def test_a_row_side_by_side_with_others_equals_the_row_alone(variant, together):
    flows = [random_flow(variant, 11 + 5 * place, place, place % 5, 1.5) for place in range(together)]
    with contextlib.closing(Lanes(2)) as lanes:
        side_by_side = zipvoice(variant).step(flows, 60, lanes)
    for flow, ours in zip(flows, side_by_side, strict=True):
        assert difference(ours.mel, zipvoice(variant).step([flow])[0].mel) <= ROUNDING


@VARIANTS
@pytest.mark.parametrize("longest", [61, 62, 63, 64])
def test_a_short_row_beside_long_ones(variant, longest):
    flows = [random_flow(variant, frames, frames, 1, 1.0) for frames in (longest, 30, 7, longest - 1)]
    for flow, ours in zip(flows, zipvoice(variant).step(flows), strict=True):
        assert difference(ours.mel, zipvoice(variant).step([flow])[0].mel) <= ROUNDING


def test_what_stands_beyond_a_rows_end_has_no_influence():
    model, chance = zipvoice(DISTILLED), seeded(5)
    rows = torch.randn(2, 19, 60, generator=chance)
    time = model.clock(torch.tensor([0.2, 0.7]), torch.tensor([3.0, 1.0]))
    extent = Extent.of([19, 10], 19, rows.device)
    calm = model.decoder(rows, extent, time)
    rows[1, 10:] = 1e4
    assert difference(model.decoder(rows, extent, time)[1, :10], calm[1, :10]) <= ROUNDING


def test_texts_of_many_lengths_are_encoded_as_alone():
    texts = [torch.tensor([*range(1, length + 1), 0]) for length in (1, 2, 3, 7, 20, 33)]
    for text, ours in zip(texts, zipvoice(STEREO).encoded(texts), strict=True):
        assert difference(ours, zipvoice(STEREO).encoded([text])[0]) <= ROUNDING


@VARIANTS
def test_a_request_that_joins_midway_and_outlives_the_others_is_spoken_as_alone(variant):
    features = zipvoice(variant).config.features
    plans = [(9, 23, 4, 1.0, 1.0), (4, 31, 7, 1.3, 2.0), (13, 18, 2, 0.8, 0.0)]

    def start(tokens, prompt_frames, steps, speed, guidance):
        chance = seeded(tokens)
        line = Line(range(1, tokens + 1), [3, 4, 5], torch.randn(prompt_frames, features, generator=chance), speed)
        noise = torch.randn(line.frames, features, generator=chance)
        return zipvoice(variant).start([line], [noise], [Solver(steps, guidance)])[0]

    first, second, third = (start(*plan) for plan in plans)
    first, second = zipvoice(variant).step([first, second])
    together = solved(variant, [first, second, third])
    for plan, ours in zip(plans, together, strict=True):
        assert difference(ours.spoken, solved(variant, [start(*plan)])[0].spoken) <= ROUNDING


def test_the_vocoder_sounds_as_the_original():
    recorded = golden("vocos", "tiny")
    rows = recorded["features"].transpose(1, 2)
    assert difference(vocos().backbone(rows, Extent.of([30, 30], 30, rows.device)), recorded["mid.backbone"]) <= 1e-4
    for ours, theirs in zip(vocos()(list(rows)), recorded["audio"], strict=True):
        assert difference(ours, theirs) <= 1e-4


def test_the_vocoder_sounds_each_row_as_alone():
    mels = [torch.randn(frames, 20, generator=seeded(frames)) for frames in (1, 2, 3, 4, 5, 17, 30)]
    for mel, ours in zip(mels, vocos()(mels), strict=True):
        assert len(ours) == (len(mel) - 1) * 16
        assert difference(ours, vocos()([mel])[0]) <= ROUNDING
