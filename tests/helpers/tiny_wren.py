"""A narrow Wren whose weights are waves, so that they do not depend on a random generator, and its input."""

from pathlib import Path

import torch
from torch import Tensor

from polyvox.bundles.onnx_graphs.wren import Precision, Ranges, wren_graphs
from polyvox.models.kokoro.wren import Wren, WrenConfig
from polyvox.models.kokoro.wren_refiner import RefinerConfig
from polyvox.models.kokoro.wren_source import phase_cycles
from training.wren.features import Features, synthesize
from training.wren.ranges import watched

CONFIG = WrenConfig(
    width=16, blocks=2, text_dim=12, style_dim=8, condition_dim=8, utterance_dim=6, refiner=RefinerConfig(10, 2)
)


def tiny_wren() -> Wren:
    network = Wren(CONFIG).eval().requires_grad_(False)
    for number, parameter in enumerate(network.parameters()):
        parameter.copy_(0.3 * waves(parameter.shape, 0.7 + 0.01 * number))
    return network


def tiny_input(frames: int = 48) -> dict[str, Tensor]:
    """What `Wren.forward` takes, for one utterance; a third of it is unvoiced."""
    pitch = 140 + 40 * waves((1, frames), 0.05)
    pitch[:, frames // 3 : 2 * frames // 3] = -2.0
    return {
        "text": waves((1, CONFIG.text_dim, frames // 2), 0.37),
        "pitch": pitch,
        "energy": 2 * waves((1, frames), 0.11),
        "style": waves((1, CONFIG.style_dim), 0.9),
        "phase": phase_cycles(pitch),
        "noise": 1.4 * waves((1, frames * CONFIG.hop), 2.3),
    }


def waves(shape: tuple[int, ...], step: float) -> Tensor:
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float64) * step).sin().float().view(shape)


def tiny_ranges() -> Ranges:
    """Ranges of the inputs of its layers, measured on its input."""
    network, given = tiny_wren(), tiny_input()
    features = Features(*(given[name][0] for name in ("text", "pitch", "energy", "style")))
    with watched(network) as seen:
        synthesize(network, features)
    return {name: histogram.best_range() for name, histogram in seen.items()}


def write_tiny_wren(folder: Path, precision: Precision = "float32", ranges: Ranges | None = None) -> None:
    """The graphs of `tiny_wren`."""
    weights = {name: tensor.numpy() for name, tensor in tiny_wren().state_dict().items()}
    graphs = wren_graphs(weights, precision, ranges or {})
    for name in ("plan", "filters", "refiner"):
        (folder / f"{name}.onnx").write_bytes(getattr(graphs, name))
