"""The Triton kernel of a bidirectional LSTM's steps, interpreted, against PyTorch's LSTM."""

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers.tables import each_row  # noqa: E402
from polyvox.models.kokoro import lstm_kernels  # noqa: E402
from polyvox.models.kokoro.lstm import BidirectionalLstm, run_lstm  # noqa: E402
from polyvox.models.kokoro.lstm_kernels import FusedLstm  # noqa: E402
from polyvox.models.kokoro.ragged import Ragged, StaticRagged  # noqa: E402

INPUTS, WIDTH, LENGTHS = 6, 16, (9, 5, 1)
CLOSE = {torch.float64: 1e-14, torch.float32: 1e-6}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Two blocks of units, of what is summed, and of rows, the last one not full."""
    for name, size in (("_ROWS", 2), ("_UNITS", 4), ("_INNER", 4)):
        monkeypatch.setattr(lstm_kernels, name, size)


def lstm(dtype=torch.float64):
    network = BidirectionalLstm(INPUTS, WIDTH).requires_grad_(False)
    for parameter in network.parameters():
        parameter.normal_(generator=torch.Generator().manual_seed(len(parameter)))
    return network.to(dtype)


def rows(dtype=torch.float64):
    return torch.randn(3, max(LENGTHS), INPUTS, generator=torch.Generator().manual_seed(1)).to(dtype)


@each_row("dtype", list(CLOSE))
def test_rows_of_any_length_are_what_the_lstm_makes_of_them_alone(dtype):
    network, given = lstm(dtype), rows(dtype)
    wanted = run_lstm(network, given, Ragged(LENGTHS, given.device))
    network.kernel = FusedLstm(network)
    found = run_lstm(network, given, StaticRagged(torch.tensor(LENGTHS), max(LENGTHS)))
    assert found.dtype == dtype
    assert torch.allclose(found, wanted, rtol=0, atol=CLOSE[dtype])
    assert not found[1, 5:].any(), "nothing beyond a row's end"


def test_neither_other_rows_nor_padding_change_a_bit():
    kernel, given = FusedLstm(lstm()), rows()
    together = kernel(given, torch.tensor(LENGTHS))
    given[1, 5:] = float("nan")
    alone = kernel(given[1:2, :7], torch.tensor([5]))
    assert torch.equal(alone[0, :5], together[1, :5])


def test_a_width_that_blocks_do_not_divide_is_refused(monkeypatch):
    monkeypatch.setattr(lstm_kernels, "_INNER", 5)
    with pytest.raises(ValueError, match="a width of 8 is no multiple of 5"):
        FusedLstm(lstm())
