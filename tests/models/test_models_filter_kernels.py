"""The fused kernel between the convolutions of HiFT's filter, interpreted, against PyTorch's operations."""

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers.cosyvoice_golden import causal_hift, hift  # noqa: E402
from helpers.tables import each_row  # noqa: E402
from polyvox.models.hift import filter_kernels  # noqa: E402
from polyvox.models.hift.causal import CausalHift  # noqa: E402
from polyvox.models.hift.filter_kernels import join  # noqa: E402
from polyvox.models.hift.fused_filter import Edges, Sum  # noqa: E402

TIME, CHANNELS, CONTEXT = 70, 24, 6


def draws(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def snake(rows, alpha):
    return rows + (rows * alpha).sin().square() / (alpha + 1e-9)


@each_row("upsampling", [1, 3])
def test_a_causal_input_is_the_context_and_the_activated_sum(upsampling):
    rows, alpha, past = draws(3, TIME, CHANNELS), draws(CHANNELS).exp(), draws(3, CHANNELS, CONTEXT)
    padding = torch.tensor([0, 2, 35])
    edges = Edges(CONTEXT, 0, past, (padding, 2 * upsampling), keeps=True, upsampling=upsampling)
    _, joined, following = join((Sum(rows),), 1, alpha, edges)
    exact = torch.cat((past.transpose(1, 2), snake(rows, alpha).repeat_interleave(upsampling, dim=1)), dim=1)
    torch.testing.assert_close(joined, exact, rtol=1e-5, atol=1e-6)
    for row, frames in enumerate(padding.tolist()):
        end = joined.shape[1] - 2 * upsampling * frames
        assert torch.equal(following[row].T, joined[row, end - CONTEXT : end])
    alone = join((Sum(rows[1:2]),), 1, alpha, Edges(CONTEXT, 0, past[1:2], upsampling=upsampling))
    assert torch.equal(alone.rows[0], joined[1])


@each_row("terms", [1, 2, 3])
def test_a_centred_input_is_the_mean_between_zeros(terms):
    parts = [[draws(2, TIME, CHANNELS), draws(2, TIME, CHANNELS), draws(CHANNELS)] for _ in range(terms)]
    padding = torch.tensor([30, 0])
    edges = Edges(4, 4, padding=(padding, 2), masks=True, stores=True)
    total, joined, following = join(tuple(Sum(*part) for part in parts), terms, 0.1, edges)
    exact = sum(rows + (added + bias) for rows, added, bias in parts) / terms
    torch.testing.assert_close(total, exact, rtol=1e-6, atol=1e-6)
    shown = torch.nn.functional.leaky_relu(exact, 0.1)
    shown[0, TIME - 60 :] = 0
    torch.testing.assert_close(joined, torch.nn.functional.pad(shown, (0, 0, 4, 4)), rtol=1e-6, atol=1e-6)
    assert following is None


def _frames(piece, state):
    return piece.shape[2] + (0 if state is None else state.mel.shape[2])


def chunks_of(vocoder, rows):
    """Samples of a first, a padded and a last chunk of the rows, without those of padding."""
    mel = draws(2, vocoder.config.filter.bins, 32)[rows]
    noise = draws(1, 480 * 40, vocoder.config.source.harmonics)
    padding = torch.tensor([0, 3])[rows]
    pieces = (mel[:, :, :12], mel[:, :, 12:24], mel[:, :, 24:])
    state = vocoder.start(noise, len(mel)) if isinstance(vocoder, CausalHift) else None
    for index, piece in enumerate(pieces):
        padded, final = padding if index == 1 else None, index == 2
        given = (
            (piece, state)
            if isinstance(vocoder, CausalHift)
            else (piece, noise[:, : 480 * _frames(piece, state)], state)
        )
        samples, state = vocoder.step(*given, final=final, padding=padded)
        ends = samples.shape[1] - 480 * (padding if index == 1 else 0 * padding)
        yield [row[:end] for row, end in zip(samples, ends.tolist(), strict=True)]


@pytest.fixture(params=[2, 3])
def vocoder(request, monkeypatch):
    monkeypatch.setattr(filter_kernels, "_ELEMENTS", 1 << 13)
    vocoder = (hift if request.param == 2 else causal_hift)(torch.float64)
    yield vocoder
    vocoder.filter.use_join(None)


@pytest.mark.long
@torch.inference_mode()
def test_streams_sound_as_by_pytorch_and_rows_as_alone(vocoder):
    exact = list(chunks_of(vocoder, slice(None)))
    vocoder.filter.use_join(join)
    ours, alone = chunks_of(vocoder, slice(None)), chunks_of(vocoder, slice(1, 2))
    for fused, single, reference in zip(ours, alone, exact, strict=True):
        # The source is computed in single precision, and sines of a batch round otherwise than those of a row.
        for row, other, close in zip((*fused, *single), (*reference, reference[1]), (1e-12, 1e-12, 1e-5), strict=True):
            assert (row - other).square().mean().sqrt() <= close * other.std()
