"""What the benchmark compares with is the original: its order of operations makes the original's samples."""

import pytest
import torch

from benchmarks.zipvoice_original import OriginalZipVoice
from helpers.tables import each_row
from helpers.zipvoice_golden import DISTILLED, SAMPLES, difference, golden, manifest, weights, zipvoice
from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput


@pytest.mark.long
@each_row("straight", [False, True])
@each_row("name", [name for variant, name in SAMPLES if variant == DISTILLED])
def test_whole_samples(name: str, straight: bool) -> None:
    model = OriginalZipVoice(zipvoice(DISTILLED).config).requires_grad_(False).eval()
    model.load_state_dict(weights(DISTILLED))
    model.straighten(straight)
    case, recorded = manifest(DISTILLED)["cases"][name], golden(DISTILLED, name)
    lines = [
        ZipVoiceInput(tokens, prompt_tokens, mel[:length], case["speed"])
        for tokens, prompt_tokens, mel, length in zip(
            case["tokens"],
            case["prompt_tokens"],
            recorded["prompt_features"],
            recorded["prompt_features_lens"],
            strict=True,
        )
    ]
    # The longest row is the one that nothing was padded for: in the original, padding leaks into shorter ones.
    row = max(range(len(lines)), key=lambda index: lines[index].frames)
    solver = SolverOptions(case["num_step"], case["guidance_scale"], case["t_shift"])
    with torch.inference_mode():
        spoken = model(lines[row], recorded["noise"][row][: lines[row].frames], solver)
    assert difference(spoken, recorded["out"][row][: len(spoken)]) <= 1e-4
