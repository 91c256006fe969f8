"""ZipVoice's network against the original: text, one step, guidance, and whole samples."""

import json
import math

import pytest
import torch

from helpers.tables import each_row
from helpers.zipvoice_golden import (
    BASE,
    DISTILLED,
    FOLDER,
    SAMPLES,
    STEREO,
    TAGS,
    TOLERANCE,
    difference,
    golden,
    manifest,
    sample_start,
    solved,
    weights,
    zipvoice,
)
from polyvox.models.loading import WeightsError
from polyvox.models.zipvoice.flow import (
    SolverOptions,
    SolverState,
    ZipVoiceInput,
    target_frames,
    time_schedule,
    token_indices,
)
from polyvox.models.zipvoice.model import config_from_published, load_zipvoice, speaker_indices
from polyvox.models.zipvoice.zipformer import PaddingMask, relative_positions, swoosh_r

VARIANTS = pytest.mark.parametrize("variant", [BASE, DISTILLED, STEREO])
CPU = torch.device("cpu")


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def test_the_activation_is_the_published_one_for_numbers_of_every_size(threads):
    values = torch.cat([torch.linspace(-30, 30, 70_001), torch.tensor([-1e4, -100.0, 88.0, 89.0, 100.0, 1e4])])
    exactly = torch.logaddexp(torch.zeros(()).double(), values.double() - 1) - 0.08 * values - 0.313261687
    torch.testing.assert_close(swoosh_r(values).double(), exactly, atol=1e-6, rtol=1e-6)
    assert swoosh_r(torch.tensor([math.nan])).isnan().all()


def test_the_activation_takes_rows_that_lie_across_memory(threads):
    rows = torch.linspace(-5, 5, 24).view(2, 3, 4)
    assert difference(swoosh_r(rows.transpose(1, 2)), swoosh_r(rows).transpose(1, 2)) <= 1e-6


def recorded_flows(variant, guidance=None, time=None):
    """The rows of the recorded step as flows, the second cut to its own length."""
    step = golden(variant, "fm_step")
    scales = step.get("guidance_scale", torch.zeros(2)) if guidance is None else [guidance, guidance]
    return [
        SolverState(
            step["x"][row][:frames],
            step["text_condition"][row][:frames],
            step["speech_condition"][row][:frames],
            0,
            (float(step["t"][row]) if time is None else time, 1.0),
            float(scales[row]),
        )
        for row, frames in enumerate((37, 26))
    ]


@pytest.mark.long
@VARIANTS
def test_tokens_are_encoded(variant):
    recorded = golden(variant, "text_encoder")
    lengths = recorded["tokens_lens"].tolist()
    texts = [tokens[: length + 1] for tokens, length in zip(recorded["tokens_padded"], lengths, strict=True)]
    for ours, theirs in zip(zipvoice(variant).encode_texts(texts), recorded["embed"], strict=True):
        assert difference(ours, theirs[: len(ours)]) <= TOLERANCE


@VARIANTS
def test_tokens_are_spread_over_frames(variant):
    recorded = golden(variant, "text_condition_speed1.3")
    case = manifest(variant)["cases"]["sample_B2_speed1.0_ts0.5_n4"]
    lines = [
        ZipVoiceInput(
            case["tokens"][row], case["prompt_tokens"][row], torch.zeros(frames, zipvoice(variant).config.features), 1.3
        )
        for row, frames in enumerate(recorded["prompt_features_lens"].tolist())
    ]
    padding = recorded["padding_mask"].bool()
    assert [line.frames for line in lines] == (~padding).sum(dim=1).tolist()
    for ours, theirs in zip(zipvoice(variant).text_conditions(lines), recorded["text_condition"], strict=True):
        assert difference(ours, theirs[: len(ours)]) <= TOLERANCE


def test_the_inner_tensors_of_a_step_are_the_originals():
    step, model = golden(DISTILLED, "fm_step"), zipvoice(DISTILLED)
    time = model.time_embedding(step["t"], step["guidance_scale"])
    assert difference(time, step["mid.fm.time_embed"]) <= TOLERANCE
    distances = relative_positions(37, 12, CPU)
    assert difference(distances[None], step["mid.fm.encoders.0.encoder_pos"]) <= TOLERANCE
    rows = model.decoder.in_proj(torch.cat((step["x"], step["text_condition"], step["speech_condition"]), dim=2))
    padding = PaddingMask.of([37, 26], 37, CPU)
    attention = model.decoder.stacks[0].layers[0].self_attn_weights(rows, distances, padding.mask)
    assert difference(attention.transpose(0, 1), step["mid.fm.encoders.0.layers.0.self_attn_weights"]) <= TOLERANCE
    # From the first pooling on the original mixes padding into the second row; the first row is full.
    whole, first = PaddingMask.of([37], 37, CPU), rows[:1]
    for index in range(3):
        if index == 1:
            pooled = model.decoder.stacks[1].downsample(first, whole)
            assert difference(pooled[0], step["mid.fm.encoders.1.downsample"][:, 0]) <= TOLERANCE
        first = model.decoder.stacks[index](first, whole, time[:1])
        if index > 0:
            assert difference(first[0], step[f"mid.fm.encoders.{index}"][:, 0]) <= TOLERANCE


@VARIANTS
def test_one_step_is_the_originals_for_rows_of_two_lengths_and_times(variant):
    flows = recorded_flows(variant, guidance=None if variant == DISTILLED else 0.0)
    full, short = zipvoice(variant).velocities(flows)
    assert difference(full, golden(variant, "fm_step")["v_single0"][0]) <= TOLERANCE
    assert difference(short, golden(variant, "fm_step")["v_single1_unpadded"][0]) <= TOLERANCE


@each_row("variant", [BASE, STEREO])
@each_row("time", [0.3, 0.8])
def test_guidance_on_both_sides_of_the_turning_point(variant, time):
    recorded = golden(variant, f"cfg_step_t{time}")
    flow = recorded_flows(variant, recorded["guidance_scale"].item(), recorded["t"].item())[0]
    assert difference(zipvoice(variant).velocities([flow])[0], recorded["v"][0]) <= TOLERANCE


def test_guidance_turns_at_exactly_one_half():
    model = zipvoice(STEREO)
    at, after = (recorded_flows(STEREO, 1.0, time)[0] for time in (0.5, math.nextafter(0.5, 1.0)))
    assert difference(*(model.velocities([flow])[0] for flow in (at, after))) > 0.1


@pytest.mark.long
@pytest.mark.parametrize(("variant", "name"), SAMPLES)
def test_whole_samples(variant, name, threads):
    recorded, flows = golden(variant, name), sample_start(variant, name)
    assert flows[0].times == pytest.approx(recorded["timesteps"].tolist(), abs=1e-7)
    for flow, out, prompt, frames in zip(
        solved(variant, flows), recorded["out"], recorded["out_prompt"], recorded["out_lens"].tolist(), strict=True
    ):
        assert len(flow.generated) == frames
        assert difference(flow.generated, out[:frames]) <= TOLERANCE
        assert difference(flow.mel[: flow.prompt_frames], prompt[: flow.prompt_frames]) <= TOLERANCE


@each_row(
    ("prompt_frames", "prompt_tokens", "tokens", "speed", "frames"),
    [(23, 5, 11, 1.0, 51), (23, 5, 11, 1.3, 39), (31, 6, 7, 1.0, 37), (31, 6, 7, 1.3, 28), (281, 40, 80, 1.0, 562)],
)
def test_the_length_rule(prompt_frames, prompt_tokens, tokens, speed, frames):
    assert target_frames(prompt_frames, prompt_tokens, tokens, speed) == frames


@each_row("counts", [(0, 5, 5), (23, 0, 5), (23, 5, 0)])
def test_the_length_rule_refuses_to_divide_by_nothing(counts):
    with pytest.raises(ValueError, match="without tokens or frames"):
        target_frames(*counts, 1.0)


def test_left_over_frames_say_the_pad_and_too_few_frames_pass_tokens_over():
    assert token_indices(3, 8) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert token_indices(4, 4) == [0, 1, 2, 3]
    assert token_indices(6, 3) == [0, 2, 4]


def test_the_schedules_are_the_originals():
    assert time_schedule(4, 0.5) == pytest.approx([0, 1 / 7, 1 / 3, 0.6, 1], abs=1e-7)
    assert time_schedule(4, 1.0) == (0, 0.25, 0.5, 0.75, 1)
    assert time_schedule(1, 0.5) == (0, 1)


def test_who_speaks_goes_by_the_tag_not_by_the_count_of_turns():
    first, second = TAGS
    assert speaker_indices(torch.tensor([[first, 5, second, 6, first, 7]]), TAGS).tolist() == [[1, 1, 0, 0, 1, 1]]
    assert speaker_indices(torch.tensor([[first, 5, first, 6, second, 7]]), TAGS).tolist() == [[1, 1, 1, 1, 0, 0]]


def test_noise_of_another_length_is_refused():
    flow = sample_start(DISTILLED, "sample_B1_speed1.0_ts1.0_n3")[0]
    line = ZipVoiceInput([1, 2, 3], [1, 2], torch.zeros(10, 20))
    with pytest.raises(ValueError, match=r"noise is \(74, 20\), not \(25, 20\)"):
        zipvoice(DISTILLED).start([line], [flow.mel], [SolverOptions(4, 1.0)])


def test_weights_of_another_variant_are_refused():
    published = json.loads((FOLDER / DISTILLED / "model.json").read_text())
    with pytest.raises(WeightsError, match=r"time_embedding\.guidance\.weight"):
        load_zipvoice(config_from_published(published["model"], published["vocab_size"]), weights(DISTILLED))
