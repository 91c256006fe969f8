"""A line in company equals the same line alone: whatever the others' lengths, styles and speeds.

Pitch adds up to phases, so that a rounding of it is heard in the samples of the whole. Where lines are planned in 64
bits it is rounded alike in any company; sounding them in 32 then is enough.
"""

import copy

import pytest
import torch

from helpers.kokoro_golden import TINY, far, golden_line, golden_noise, kokoro, tiny
from polyvox.models.kokoro.model import Line, Prosody
from polyvox.models.kokoro.ragged import Boxed, Ragged

EXACT = 1e-9
ROUNDING = 2e-5
CPU = torch.device("cpu")


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def line(length, speed=1.0):
    chance = seeded(length)
    ids = torch.randint(1, TINY.bert.tokens, (length,), generator=chance).tolist()
    return Line([0, *ids, 0], torch.randn(2 * TINY.style, generator=chance), speed)


def breath(prosody, seed=0):
    return torch.randn(prosody.noise_shape, generator=seeded(seed))


LINES = [line(5), line(1, 1.5), line(17), line(2, 0.7), line(5, 2.0), line(30)]
PARTS = ("durations", "text", "pitch", "energy", "style")


def test_a_line_is_planned_as_alone():
    for ours, alone in zip(tiny().plan(LINES), (tiny().plan([one])[0] for one in LINES), strict=True):
        assert all(far(getattr(ours, part), getattr(alone, part)) < EXACT for part in PARTS)


def test_a_line_sounds_as_alone():
    plan = tiny().plan(LINES)
    noise = [breath(prosody, seed) for seed, prosody in enumerate(plan)]
    together = tiny().sound(plan, noise)
    assert len({len(samples) for samples in together}) > 3
    for index, one in enumerate(LINES):
        alone = tiny().plan([one])
        assert far(together[index], tiny().sound(alone, [noise[index]])[0]) < EXACT


def test_two_frames_sound_beside_a_long_line():
    (long,) = tiny().plan([line(30)])
    short = Prosody(long.durations[:1], long.text[:, :2], long.pitch[:4], long.energy[:4], long.style)
    together = tiny().sound([long, short], [breath(long), breath(short)])
    assert far(together[1], tiny().sound([short], [breath(short)])[0]) < EXACT
    assert len(together[1]) == 2 * 600


def test_lines_of_one_length_take_no_mask():
    plan = tiny().plan([line(9)])
    twice = tiny().sound(plan * 2, [breath(plan[0], 1), breath(plan[0], 2)])
    for seed, ours in enumerate(twice, start=1):
        assert far(ours, tiny().sound(plan, [breath(plan[0], seed)])[0]) < EXACT


def test_a_line_sounds_as_alone_in_a_box_longer_than_any_line():
    plan = tiny().plan(LINES[:3])
    box = max(prosody.frames for prosody in plan) + 7
    text, noise = torch.zeros(3, TINY.width, box).double(), torch.zeros(3, box * 600, 9).double()
    curves = torch.zeros(2, 3, 2 * box).double()
    for row, prosody in enumerate(plan):
        text[row, :, : prosody.frames] = prosody.text
        curves[0, row, : 2 * prosody.frames], curves[1, row, : 2 * prosody.frames] = prosody.pitch, prosody.energy
        noise[row, : prosody.frames * 600] = breath(prosody, row)
    style = torch.stack([prosody.style for prosody in plan])
    ends = torch.tensor([prosody.frames for prosody in plan])
    boxed = tiny().sounded(text, *curves, style, noise, Boxed(ends, box))
    assert boxed.shape == (3, box * 600)
    for row, prosody in enumerate(plan):
        alone = tiny().sound([prosody], [breath(prosody, row)])[0]
        assert far(boxed[row, : len(alone)], alone) < EXACT


def test_padding_without_a_mask_would_have_leaked():
    decoder, (long, short) = tiny().decoder, tiny().plan([line(30), line(5)])
    text = torch.zeros(2, TINY.width, long.frames, dtype=torch.float64)
    text[0], text[1, :, : short.frames] = long.text, short.text
    curves = torch.zeros(2, 2 * long.frames, dtype=torch.float64)
    style = torch.stack((long.style, short.style))
    alone = decoder.features(
        text[1:, :, : short.frames],
        curves[1:, : 2 * short.frames],
        curves[1:, : 2 * short.frames],
        style[1:],
        Ragged([short.frames], CPU),
    )
    masked, unmasked = (
        decoder.features(text, curves, curves, style, Ragged(lengths, CPU))[1:, :, : 2 * short.frames]
        for lengths in ([long.frames, short.frames], [long.frames] * 2)
    )
    assert far(masked, alone) < EXACT
    assert far(unmasked, alone) > 0.1


def test_nothing_depends_on_the_global_generator_or_on_earlier_calls():
    plan = tiny().plan([line(5)])
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = tiny().sound(plan, [breath(plan[0])])[0]
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first, tiny().sound(plan, [breath(plan[0])])[0])


def test_the_style_of_a_line_can_be_learned():
    style = line(5).style.double().requires_grad_()
    plan = tiny().plan([Line(line(5).ids, style)])
    tiny().sound(plan, [breath(plan[0])])[0].square().sum().backward()
    assert style.grad.isfinite().all()
    assert (style.grad != 0).all(), "of the sound and of the prosody"


@pytest.mark.parametrize(("dtype", "noise_share"), [(torch.bfloat16, 1e-2), (torch.float16, 1e-4)])
@torch.no_grad()
def test_sixteen_bits_are_enough_within_the_decoder(dtype, noise_share):
    exact, narrow = copy.deepcopy(tiny()).float(), copy.deepcopy(tiny()).float()
    narrow.cast(torch.float32, dtype)
    plan = exact.plan(LINES)
    noise = [breath(prosody) for prosody in plan]
    for ours, theirs in zip(narrow.sound(narrow.plan(LINES), noise), exact.sound(plan, noise), strict=True):
        assert ours.dtype == torch.float32
        assert (ours - theirs).square().mean() < noise_share * theirs.square().mean()


@pytest.fixture(scope="module")
def released_size():
    """The full size, planning in 64 bits and sounding in 32."""
    model = copy.deepcopy(kokoro())
    model.cast(torch.float64, torch.float32)
    return model


@pytest.mark.slow
@torch.no_grad()
def test_planned_in_64_bits_and_sounded_in_32_a_line_of_the_released_size_sounds_as_alone(released_size):
    whole = golden_line()
    lines = [Line([*whole.ids[:4], 0], whole.style), Line([*whole.ids[6:8], 0], whole.style.flip(0), 1.3)]
    plan = released_size.plan(lines)
    noise = [golden_noise(prosody.frames) for prosody in plan]
    for index, ours in enumerate(released_size.sound(plan, noise)):
        (alone,) = released_size.plan([lines[index]])
        assert torch.equal(plan[index].durations, alone.durations)
        assert far(plan[index].pitch, alone.pitch) < EXACT
        assert far(ours, released_size.sound([alone], [noise[index]])[0]) < ROUNDING
