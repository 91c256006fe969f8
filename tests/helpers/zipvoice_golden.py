"""The original's tensors on tiny weights, and our models with those weights.

Three of the four variants are kept: the dialogue in one channel runs no line that the base model (one channel, guidance
outside the network) and the stereo dialogue (two channels, two speakers) do not run between them.
"""

import json
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from polyvox.models.zipvoice.flow import SolverOptions, SolverState, ZipVoiceInput
from polyvox.models.zipvoice.model import ZipVoice, config_from_published, load_zipvoice
from polyvox.models.zipvoice.vocos import Vocos, VocosConfig, load_vocos

FOLDER = Path(__file__).parents[1] / "golden"
TOLERANCE = 1e-4
BASE, DISTILLED, STEREO = "zipvoice", "zipvoice_distill", "zipvoice_dialog_stereo"
TAGS = (38, 39)
SAMPLES = tuple(
    (variant, path.stem)
    for variant in (BASE, DISTILLED, STEREO)
    for path in sorted((FOLDER / variant).glob("sample_*.safetensors"))
)


@cache
def golden(variant: str, part: str) -> dict[str, Tensor]:
    return load_file(FOLDER / variant / f"{part}.safetensors")


@cache
def manifest(variant: str) -> dict:
    return json.loads((FOLDER / variant / "manifest.json").read_text())


def weights(variant: str) -> dict[str, Tensor]:
    """As published; the file of the goldens holds scalars as lists of one."""
    return {
        name: tensor.reshape(()) if name.endswith(".log_scale") else tensor
        for name, tensor in golden(variant, "weights").items()
    }


@cache
def zipvoice(variant: str) -> ZipVoice:
    published = json.loads((FOLDER / variant / "model.json").read_text())
    config = config_from_published(
        published["model"],
        published["vocab_size"],
        distilled=variant == DISTILLED,
        channels=2 if variant == STEREO else 1,
        speaker_tags=TAGS if variant == STEREO else None,
    )
    return load_zipvoice(config, weights(variant))


@cache
def vocos() -> Vocos:
    config = VocosConfig(bins=20, width=32, hidden=64, blocks=3, fft=64, hop=16)
    return load_vocos(config, golden("vocos", "weights_tiny"))


def sample_start(variant: str, name: str) -> list[SolverState]:
    """The states of one of the original's whole samples before the first step."""
    case, tensors = manifest(variant)["cases"][name], golden(variant, name)
    prompts = [
        mel[:length] for mel, length in zip(tensors["prompt_features"], tensors["prompt_features_lens"], strict=True)
    ]
    lines = [
        ZipVoiceInput(tokens, prompt_tokens, prompt, case["speed"])
        for tokens, prompt_tokens, prompt in zip(case["tokens"], case["prompt_tokens"], prompts, strict=True)
    ]
    noise = [row[: line.frames] for row, line in zip(tensors["noise"], lines, strict=True)]
    solver = SolverOptions(case["num_step"], case["guidance_scale"], case["t_shift"])
    return zipvoice(variant).start(lines, noise, [solver] * len(lines))


def solved(variant: str, flows: list[SolverState]) -> list[SolverState]:
    """The states after the last step; each leaves the batch when it is done."""
    while unfinished := [index for index, flow in enumerate(flows) if not flow.done]:
        stepped = zipvoice(variant).step([flows[index] for index in unfinished])
        flows = [stepped[unfinished.index(index)] if index in unfinished else flow for index, flow in enumerate(flows)]
    return flows


def difference(ours: Tensor, theirs: Tensor) -> float:
    assert ours.shape == theirs.shape
    assert not ours.isnan().any()
    return (ours - theirs).abs().max().item() if ours.numel() else 0.0


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
