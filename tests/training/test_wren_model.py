"""Wren on networks small enough for a test: decoding in chunks, padding, and the source's phase."""

import pytest

torch = pytest.importorskip("torch")

from training.wren.model import Wren, WrenConfig  # noqa: E402
from training.wren.source import phase_cycles  # noqa: E402

CONFIG = WrenConfig(width=16, blocks=2)


def student() -> Wren:
    torch.manual_seed(3)
    network = Wren(CONFIG).eval().requires_grad_(False)
    for parameter in network.parameters():
        parameter.add_(0.05 * torch.randn_like(parameter))
    return network


def inputs(frames: int):
    generator = torch.Generator().manual_seed(5)
    pitch = 140 + 40 * torch.randn(1, frames, generator=generator)
    pitch[:, : frames // 4] = -2.0
    return {
        "text": torch.randn(1, CONFIG.text_dim, frames // 2, generator=generator),
        "pitch": pitch,
        "energy": torch.randn(1, frames, generator=generator),
        "style": torch.randn(1, CONFIG.style_dim, generator=generator),
        "phase": phase_cycles(pitch),
        "noise": torch.randn(1, frames * CONFIG.hop, generator=generator),
    }


def chunk(whole, first: int, last: int):
    return {
        "text": whole["text"][:, :, first // 2 : last // 2],
        "style": whole["style"],
        "noise": whole["noise"][:, first * CONFIG.hop : last * CONFIG.hop],
        **{name: whole[name][:, first:last] for name in ("pitch", "energy", "phase")},
    }


def test_decodes_one_hop_of_samples_per_frame() -> None:
    assert student()(**inputs(24)).shape == (1, 24 * CONFIG.hop)


def test_a_chunk_with_context_equals_that_chunk_of_the_whole() -> None:
    network, whole, frames, size = student(), inputs(60), 60, 10
    expected = network(**whole)
    for first in range(0, frames, size):
        start, end = max(0, first - network.context_frames), min(frames, first + size + network.context_frames)
        decoded = network(**chunk(whole, start, end))[:, (first - start) * CONFIG.hop :][:, : size * CONFIG.hop]
        assert torch.allclose(decoded, expected[:, first * CONFIG.hop : (first + size) * CONFIG.hop], atol=1e-5)


def test_padding_does_not_change_an_utterance() -> None:
    network, alone, frames, padded_frames = student(), inputs(20), 20, 30
    padded = {
        name: torch.nn.functional.pad(alone[name], (0, (padded_frames - frames) // (2 if name == "text" else 1)))
        for name in ("text", "pitch", "energy", "phase")
    }
    mask = (torch.arange(padded_frames) < frames).float()[None, :, None]
    filters = network.predict_filters(**padded, style=alone["style"], mask=mask)[:, :frames]
    expected = network.predict_filters(**{name: alone[name] for name in (*padded, "style")})
    assert torch.allclose(filters, expected, atol=1e-5)


def test_phase_advances_by_the_pitch() -> None:
    steady = phase_cycles(torch.full((1, 8), 40.0))
    assert torch.allclose(steady, torch.tensor([[0.5, 0.0] * 4]), atol=1e-6)


def test_the_default_size_fits_into_16_megabytes_of_float16() -> None:
    with torch.device("meta"):
        assert 2 * sum(parameter.numel() for parameter in Wren(WrenConfig()).parameters()) < 16_000_000
