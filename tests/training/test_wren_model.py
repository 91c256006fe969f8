"""Wren on networks small enough for a test: decoding in chunks, padding, and the source's phase."""

import pytest

torch = pytest.importorskip("torch")

from polyvox.models.kokoro.wren import Wren, WrenConfig  # noqa: E402
from polyvox.models.kokoro.wren_refiner import RefinerConfig  # noqa: E402
from polyvox.models.kokoro.wren_source import phase_cycles  # noqa: E402
from polyvox.models.kokoro.wren_utterance import SPREAD_FRAMES, spread_indices  # noqa: E402
from training.wren.features import Features, spread_frames  # noqa: E402
from training.wren.pool import SpeechPool  # noqa: E402

PLAIN = WrenConfig(width=16, blocks=2)
CONFIG = WrenConfig(width=16, blocks=2, utterance_dim=6, refiner=RefinerConfig(width=8, blocks=2))


def student(config: WrenConfig = CONFIG) -> Wren:
    torch.manual_seed(3)
    network = Wren(config).eval().requires_grad_(False)
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
        "utterance": torch.randn(1, 12, CONFIG.text_dim + 7, generator=generator),
    }


def chunk(whole, first: int, last: int):
    return {
        "text": whole["text"][:, :, first // 2 : last // 2],
        "style": whole["style"],
        "utterance": whole["utterance"],
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
    condition = network.condition(alone["style"], alone["utterance"])

    def refined(curves, noise, mask=None):
        hidden = network.encode(curves["text"], curves["pitch"], curves["energy"], condition, curves["phase"], mask)
        samples = network.decode(network.project(hidden), curves["pitch"], curves["phase"], noise)
        return samples, network.refine(samples, hidden, condition, mask)

    longer = torch.nn.functional.pad(alone["noise"], (0, (padded_frames - frames) * CONFIG.hop), value=3.0)
    ours, expected = refined(padded, longer, mask), refined(alone, alone["noise"])
    # The last frames' overlap-add reaches into the padding, where the pulse filters of an utterance alone end.
    inside = (frames - 2 * network.overlap_frames) * CONFIG.hop
    assert torch.allclose(ours[1][:, :inside], expected[1][:, :inside], atol=1e-5)


def test_new_parts_change_nothing_at_first() -> None:
    network, plain, whole = Wren(CONFIG).eval(), Wren(PLAIN).eval(), inputs(40)
    missing = network.load_state_dict(plain.state_dict(), strict=False).missing_keys
    assert {name.split(".")[0] for name in missing} == {"refiner", "utterance_encoder", "blocks"}
    margin = CONFIG.hop
    expected = plain(**{name: value for name, value in whole.items() if name != "utterance"})
    assert torch.allclose(network(**whole)[:, margin:-margin], expected[:, margin:-margin], atol=1e-4)


def test_a_network_that_needs_the_whole_utterance_asks_for_it() -> None:
    whole = inputs(8)
    with pytest.raises(ValueError, match="whole utterance"):
        student()(**{name: value for name, value in whole.items() if name != "utterance"})


def test_frames_are_spread_evenly_over_short_and_long_utterances() -> None:
    assert spread_indices(torch.tensor([2, SPREAD_FRAMES, 3 * SPREAD_FRAMES])).tolist() == [
        [0] * (SPREAD_FRAMES // 2) + [1] * (SPREAD_FRAMES // 2),
        list(range(SPREAD_FRAMES)),
        list(range(1, 3 * SPREAD_FRAMES, 3)),
    ]


def test_training_and_decoding_see_the_same_frames_of_an_utterance() -> None:
    torch.manual_seed(6)
    features = Features(torch.randn(512, 30), 100 + torch.randn(60), torch.randn(60), torch.zeros(128))
    pool = SpeechPool(0.001, torch.device("cpu"))
    assert pool.add([features], [torch.zeros(30 * 600)])
    assert torch.equal(pool.sample(1, 8, 4).utterance, spread_frames(features))


def test_phase_advances_by_the_pitch() -> None:
    steady = phase_cycles(torch.full((1, 8), 40.0))
    assert torch.allclose(steady, torch.tensor([[0.5, 0.0] * 4]), atol=1e-6)


def test_the_default_size_fits_into_16_megabytes_of_float16() -> None:
    with torch.device("meta"):
        assert 2 * sum(parameter.numel() for parameter in Wren(WrenConfig()).parameters()) < 16_000_000
