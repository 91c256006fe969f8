"""A row in a batch equals the same row alone, whatever the others' lengths, styles and speeds.

Pitch adds up to phases, so its rounding reaches all samples. Where prosody is predicted in 64 bits, pitch rounds the
same in any batch, and the decoder can run in 32.
"""

import copy
import platform

import pytest
import torch

from helpers.kokoro_golden import TINY, far, tiny
from helpers.tables import each_row
from polyvox.models.kokoro.model import Prosody, StyledTokens
from polyvox.models.kokoro.ragged import Ragged, StaticRagged

EXACT = 1e-9
CPU = torch.device("cpu")


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def tokens(length, speed=1.0):
    generator = seeded(length)
    ids = torch.randint(1, TINY.bert.tokens, (length,), generator=generator).tolist()
    return StyledTokens([0, *ids, 0], torch.randn(2 * TINY.style, generator=generator), speed)


def noise_of(prosody, seed=0):
    return torch.randn(prosody.noise_shape, generator=seeded(seed))


INPUTS = [tokens(5), tokens(1, 1.5), tokens(17), tokens(2, 0.7), tokens(5, 2.0), tokens(30)]
PARTS = ("durations", "text", "pitch", "energy", "style")


@pytest.mark.long
def test_prosody_in_a_batch_is_as_alone():
    for ours, alone in zip(
        tiny().predict_prosody(INPUTS), (tiny().predict_prosody([one])[0] for one in INPUTS), strict=True
    ):
        assert all(far(getattr(ours, part), getattr(alone, part)) < EXACT for part in PARTS)


@pytest.mark.long
def test_samples_in_a_batch_are_as_alone():
    prosodies = tiny().predict_prosody(INPUTS)
    noise = [noise_of(prosody, seed) for seed, prosody in enumerate(prosodies)]
    together = tiny().decode(prosodies, noise)
    assert len({len(samples) for samples in together}) > 3
    for index, one in enumerate(INPUTS):
        alone = tiny().predict_prosody([one])
        assert far(together[index], tiny().decode(alone, [noise[index]])[0]) < EXACT


@pytest.mark.long
def test_two_frames_decode_beside_a_long_row():
    (long,) = tiny().predict_prosody([tokens(30)])
    short = Prosody(long.durations[:1], long.text[:, :2], long.pitch[:4], long.energy[:4], long.style)
    together = tiny().decode([long, short], [noise_of(long), noise_of(short)])
    assert far(together[1], tiny().decode([short], [noise_of(short)])[0]) < EXACT
    assert len(together[1]) == 2 * 600


@pytest.mark.long
def test_rows_of_one_length_take_no_mask():
    prosodies = tiny().predict_prosody([tokens(9)])
    twice = tiny().decode(prosodies * 2, [noise_of(prosodies[0], 1), noise_of(prosodies[0], 2)])
    for seed, ours in enumerate(twice, start=1):
        assert far(ours, tiny().decode(prosodies, [noise_of(prosodies[0], seed)])[0]) < EXACT


@pytest.mark.long
def test_samples_in_a_batch_padded_beyond_any_row_are_as_alone():
    prosodies = tiny().predict_prosody(INPUTS[:3])
    padded = max(prosody.frames for prosody in prosodies) + 7
    text, noise = torch.zeros(3, TINY.width, padded).double(), torch.zeros(3, padded * 600, 9).double()
    curves = torch.zeros(2, 3, 2 * padded).double()
    for row, prosody in enumerate(prosodies):
        text[row, :, : prosody.frames] = prosody.text
        curves[0, row, : 2 * prosody.frames], curves[1, row, : 2 * prosody.frames] = prosody.pitch, prosody.energy
        noise[row, : prosody.frames * 600] = noise_of(prosody, row)
    style = torch.stack([prosody.style for prosody in prosodies])
    ends = torch.tensor([prosody.frames for prosody in prosodies])
    batched = tiny().waveform(text, *curves, style, noise, StaticRagged(ends, padded))
    assert batched.shape == (3, padded * 600)
    for row, prosody in enumerate(prosodies):
        alone = tiny().decode([prosody], [noise_of(prosody, row)])[0]
        assert far(batched[row, : len(alone)], alone) < EXACT


def test_padding_without_a_mask_would_have_leaked():
    decoder, (long, short) = tiny().decoder, tiny().predict_prosody([tokens(30), tokens(5)])
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
    prosodies = tiny().predict_prosody([tokens(5)])
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = tiny().decode(prosodies, [noise_of(prosodies[0])])[0]
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first, tiny().decode(prosodies, [noise_of(prosodies[0])])[0])


def test_gradients_reach_the_style():
    style = tokens(5).style.double().requires_grad_()
    prosodies = tiny().predict_prosody([StyledTokens(tokens(5).ids, style)])
    tiny().decode(prosodies, [noise_of(prosodies[0])])[0].square().sum().backward()
    assert style.grad.isfinite().all()
    assert (style.grad != 0).all(), "of the acoustic half and of the prosodic half"


# Where a processor has arithmetic of 16 bits of its own, as ARM's have, sums are rounded too and not only factors.
FLOAT16_NOISE = 1e-4 if platform.machine() in ("x86_64", "AMD64") else 4e-4


@pytest.mark.long
@each_row(("dtype", "noise_share"), [(torch.bfloat16, 1e-2), (torch.float16, FLOAT16_NOISE)])
@torch.no_grad()
def test_sixteen_bits_are_enough_within_the_decoder(dtype, noise_share):
    exact, narrow = copy.deepcopy(tiny()).float(), copy.deepcopy(tiny()).float()
    narrow.cast(torch.float32, dtype)
    prosodies = exact.predict_prosody(INPUTS[:3])
    noise = [noise_of(prosody) for prosody in prosodies]
    for ours, theirs in zip(
        narrow.decode(narrow.predict_prosody(INPUTS[:3]), noise), exact.decode(prosodies, noise), strict=True
    ):
        assert ours.dtype == torch.float32
        assert (ours - theirs).square().mean() < noise_share * theirs.square().mean()
