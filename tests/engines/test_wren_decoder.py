"""Wren's graphs against its network in PyTorch, whole and in pieces."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from helpers.tiny_wren import tiny_input, tiny_ranges, write_tiny_wren  # noqa: E402
from polyvox.engines.kokoro.wren.decoder import WrenDecoder  # noqa: E402
from polyvox.engines.kokoro.wren.plan import UtterancePlan  # noqa: E402
from polyvox.types import Span  # noqa: E402

GOLDEN = Path(__file__).parents[1] / "golden" / "wren" / "tiny.npz"


@pytest.fixture(scope="module", params=["float32", "int8", "int8 within ranges"])
def decoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[WrenDecoder, str]:
    folder = tmp_path_factory.mktemp("wren")
    precision, *ranges = request.param.split(maxsplit=1)
    write_tiny_wren(folder, precision, tiny_ranges() if ranges else {})
    return WrenDecoder(folder, 1), precision


def plan(frames: int = 48) -> tuple[UtterancePlan, np.ndarray]:
    given = {name: tensor[0].numpy() for name, tensor in tiny_input(frames).items()}
    durations = np.zeros(0, np.int64)
    return UtterancePlan(given["text"], given["pitch"], given["energy"], given["style"], durations), given["noise"]


@pytest.mark.long
def test_decodes_the_samples_of_the_network(decoder: tuple[WrenDecoder, str]) -> None:
    wren, precision = decoder
    samples = wren.start(*plan()).advance(48)
    wanted = np.load(GOLDEN)["samples"]
    deviation = np.abs(samples - wanted).max() / np.abs(wanted).max()
    assert deviation < (2e-4 if precision == "float32" else 0.2)
    assert samples.dtype == np.float32


@pytest.mark.long
@pytest.mark.parametrize("frames", [1, 2, 7, 16])
def test_pieces_equal_the_whole(decoder: tuple[WrenDecoder, str], frames: int) -> None:
    wren, precision = decoder
    whole = wren.start(*plan()).advance(48)
    pieces = list(wren.start(*plan()).pieces(frames))
    assert len(pieces) > 1
    assert len(pieces[0]) >= 300 * frames
    # In 8 bits, an activation half-way between two steps may go to either.
    tolerance = 2e-6 if precision == "float32" else 1e-3
    assert np.abs(np.concatenate(pieces) - whole).max() < tolerance * np.abs(whole).max()


@pytest.mark.parametrize("frames", [2, 4, 10])
def test_decodes_an_utterance_shorter_than_what_a_sample_depends_on(
    decoder: tuple[WrenDecoder, str], frames: int
) -> None:
    (samples,) = decoder[0].start(*plan(frames)).pieces(4)
    assert samples.shape == (300 * frames,)
    assert np.isfinite(samples).all()


def test_frames_that_are_left_out_are_silent_and_soon_forgotten(decoder: tuple[WrenDecoder, str]) -> None:
    wren, _ = decoder
    given, noise = plan()
    whole = wren.start(given, noise).advance(48)
    part = np.concatenate(list(wren.start(given, noise, within=Span(4, 44)).pieces(6)))
    assert part.shape == whole.shape
    assert not part[: 4 * 300].any()
    assert not part[44 * 300 :].any()
    # Two blocks see six frames back, the refiner's spectra two and its blocks another two.
    inner = slice((4 + 6 + 4 + 2) * 300, (44 - 6 - 4 - 2) * 300)
    assert np.abs(part - whole)[inner].max() < 1e-3 * np.abs(whole).max()
