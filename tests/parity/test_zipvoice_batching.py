"""A row does not depend on its batch-mates, whatever their lengths, times, guidance and speeds."""

import contextlib
import itertools

import pytest
import torch

from helpers.zipvoice_golden import DISTILLED, STEREO, difference, golden, seeded, solved, vocos, zipvoice
from polyvox.engines.zipvoice.parallel_calls import ParallelCalls
from polyvox.models.zipvoice.batching import group_by_length
from polyvox.models.zipvoice.flow import SolverOptions, SolverState, ZipVoiceInput, time_schedule
from polyvox.models.zipvoice.zipformer import PaddingMask

ROUNDING = 1e-5
VARIANTS = pytest.mark.parametrize("variant", [DISTILLED, STEREO])


def random_flow(variant, frames, seed, step, guidance):
    config, generator = zipvoice(variant).config, seeded(seed)
    mel, speech = (torch.randn(frames, config.features, generator=generator) for _ in range(2))
    text = torch.randn(frames, config.bins, generator=generator)
    return SolverState(mel, text, speech, frames // 3, time_schedule(5, 0.5), guidance, step)


@pytest.mark.long
@VARIANTS
def test_rows_of_every_length_from_1_to_16_in_one_step(variant):
    guidance = itertools.cycle((0.0, 1.0, 2.5))
    flows = [random_flow(variant, frames, frames, frames % 5, next(guidance)) for frames in range(1, 17)]
    together = zipvoice(variant).step(flows)
    for flow, ours in zip(flows, together, strict=True):
        alone = zipvoice(variant).step([flow])[0]
        assert difference(ours.mel, alone.mel) <= ROUNDING


@pytest.mark.long
@VARIANTS
def test_the_size_of_a_call_changes_nothing(variant):
    flows = [random_flow(variant, frames, frames, frames % 5, 1.5) for frames in (9, 30, 31, 12, 4)]
    together, apart, grouped = (zipvoice(variant).step(flows, frames_per_call=budget) for budget in (None, 1, 62))
    for flow, *others in zip(together, apart, grouped, strict=True):
        assert all(difference(flow.mel, other.mel) <= ROUNDING for other in others)


def test_rows_of_similar_length_share_a_call():
    lengths = [9, 30, 31, 12, 4]
    assert group_by_length(lengths, None) == [[2, 1, 3, 0, 4]]
    assert group_by_length(lengths, 62) == [[2, 1], [3, 0, 4]]
    assert group_by_length(lengths, 1) == [[2], [1], [3], [0], [4]]


def test_rows_are_spread_over_parallel_calls_where_there_are_enough():
    assert group_by_length([9, 9], 100) == [[0, 1]]
    assert group_by_length([9, 9], 100, parallelism=2) == [[0], [1]]
    assert group_by_length([9, 9, 9, 9], 100, parallelism=2) == [[0, 1], [2, 3]]
    assert group_by_length([9, 9, 9, 9], 9, parallelism=2) == [[0], [1], [2], [3]]
    assert group_by_length([9] * 8, 30, parallelism=2) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert group_by_length([9, 9], 100, parallelism=4) == [[0, 1]]
    assert group_by_length([30, 4, 31, 5], None, parallelism=2) == [[2], [0], [3, 1]]


@pytest.mark.long
@VARIANTS
@pytest.mark.parametrize("together", [1, 2, 3, 7])
def test_a_row_in_a_parallel_call_equals_the_row_alone(variant, together):
    flows = [random_flow(variant, 11 + 5 * index, index, index % 5, 1.5) for index in range(together)]
    with contextlib.closing(ParallelCalls(2)) as runner:
        in_parallel = zipvoice(variant).step(flows, 60, runner)
    for flow, ours in zip(flows, in_parallel, strict=True):
        assert difference(ours.mel, zipvoice(variant).step([flow])[0].mel) <= ROUNDING


@pytest.mark.long
@VARIANTS
@pytest.mark.parametrize("longest", [61, 62, 63, 64])
def test_a_short_row_beside_long_ones(variant, longest):
    flows = [random_flow(variant, frames, frames, 1, 1.0) for frames in (longest, 30, 7, longest - 1)]
    for flow, ours in zip(flows, zipvoice(variant).step(flows), strict=True):
        assert difference(ours.mel, zipvoice(variant).step([flow])[0].mel) <= ROUNDING


def test_padding_has_no_influence_on_a_row():
    model, generator = zipvoice(DISTILLED), seeded(5)
    rows = torch.randn(2, 19, 60, generator=generator)
    time = model.time_embedding(torch.tensor([0.2, 0.7]), torch.tensor([3.0, 1.0]))
    padding = PaddingMask.of([19, 10], 19, rows.device)
    before = model.decoder(rows, padding, time)
    rows[1, 10:] = 1e4
    assert difference(model.decoder(rows, padding, time)[1, :10], before[1, :10]) <= ROUNDING


def test_texts_of_many_lengths_are_encoded_as_alone():
    texts = [torch.tensor([*range(1, length + 1), 0]) for length in (1, 2, 3, 7, 20, 33)]
    for text, ours in zip(texts, zipvoice(STEREO).encode_texts(texts), strict=True):
        assert difference(ours, zipvoice(STEREO).encode_texts([text])[0]) <= ROUNDING


@pytest.mark.long
@VARIANTS
def test_a_request_that_joins_midway_and_outlives_the_others_equals_itself_alone(variant):
    features = zipvoice(variant).config.features
    plans = [(9, 23, 4, 1.0, 1.0), (4, 31, 7, 1.3, 2.0), (13, 18, 2, 0.8, 0.0)]

    def start(tokens, prompt_frames, steps, speed, guidance):
        generator = seeded(tokens)
        prompt = torch.randn(prompt_frames, features, generator=generator)
        row = ZipVoiceInput(range(1, tokens + 1), [3, 4, 5], prompt, speed)
        noise = torch.randn(row.frames, features, generator=generator)
        return zipvoice(variant).start([row], [noise], [SolverOptions(steps, guidance)])[0]

    first, second, third = (start(*plan) for plan in plans)
    first, second = zipvoice(variant).step([first, second])
    together = solved(variant, [first, second, third])
    for plan, ours in zip(plans, together, strict=True):
        assert difference(ours.generated, solved(variant, [start(*plan)])[0].generated) <= ROUNDING


def test_the_vocoder_matches_the_original():
    recorded = golden("vocos", "tiny")
    rows = recorded["features"].transpose(1, 2)
    padding = PaddingMask.of([30, 30], 30, rows.device)
    assert difference(vocos().backbone(rows, padding), recorded["mid.backbone"]) <= 1e-4
    for ours, theirs in zip(vocos()(list(rows)), recorded["audio"], strict=True):
        assert difference(ours, theirs) <= 1e-4


def test_the_vocoder_makes_each_row_as_alone():
    mels = [torch.randn(frames, 20, generator=seeded(frames)) for frames in (1, 2, 3, 4, 5, 17, 30)]
    for mel, ours in zip(mels, vocos()(mels), strict=True):
        assert len(ours) == (len(mel) - 1) * 16
        assert difference(ours, vocos()([mel])[0]) <= ROUNDING
