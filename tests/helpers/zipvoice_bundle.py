"""Tiny ZipVoice models in folders as they are published: the goldens' weights, widened to 100 bands, and a vocoder."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file

GOLDEN = Path(__file__).parents[1] / "golden"


def _seeded(*shape: int, seed: int, scale: float) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * scale


def write_model(folder: Path, variant: str) -> Path:
    """`model.json`, `tokens.txt` and `model.pt` of the variants whose weights are kept, or of the dialogue in mono."""
    folder.mkdir(parents=True)
    stereo, dialogue = variant.endswith("stereo"), "dialog" in variant
    kept = "zipvoice_dialog_stereo" if dialogue else variant
    state = load_file(GOLDEN / kept / "weights.safetensors")
    state = {name: each.reshape(()) if name.endswith(".log_scale") else each for name, each in state.items()}
    if dialogue and not stereo:
        state = {name.replace("_proj.0.", "_proj."): each for name, each in state.items() if "_proj.1." not in name}
    tokens = (GOLDEN / "zipvoice_frontend" / "tokens.txt").read_text(encoding="utf-8")
    if dialogue:
        tokens = tokens.rstrip("\n") + "\n[S1]\t358\n[S2]\t359\n"
    count = len(tokens.splitlines())
    channels, pair = (2, ".0") if stereo else (1, "")
    state["embed.weight"] = _seeded(count, 32, seed=1, scale=0.5)
    state["text_encoder.out_proj.weight"] = _seeded(100, 32, seed=2, scale=0.2)
    state["text_encoder.out_proj.bias"] = torch.zeros(100)
    state[f"fm_decoder.in_proj{pair}.weight"] = _seeded(64, 100 * (1 + 2 * channels), seed=3, scale=0.05)
    state[f"fm_decoder.out_proj{pair}.weight"] = _seeded(100 * channels, 64, seed=4, scale=0.1)
    state[f"fm_decoder.out_proj{pair}.bias"] = torch.zeros(100 * channels)
    if stereo:
        state["fm_decoder.in_proj.1.weight"] = torch.zeros(64, 300)
        state["fm_decoder.out_proj.1.weight"], state["fm_decoder.out_proj.1.bias"] = (
            torch.zeros(100, 64),
            torch.zeros(100),
        )
    if dialogue:
        state["spk_embed.weight"] = _seeded(2, 100, seed=5, scale=0.5)
    sizes = json.loads((GOLDEN / kept / "model.json").read_text())
    sizes["model"]["feat_dim"] = 100
    (folder / "model.json").write_text(json.dumps(sizes))
    (folder / "tokens.txt").write_text(tokens, encoding="utf-8")
    torch.save({"model": state}, folder / "model.pt")
    return folder


def write_vocoder(folder: Path) -> Path:
    """A vocoder of the released layout, 32 wide."""
    folder.mkdir(parents=True)
    state = load_file(GOLDEN / "vocos" / "weights_tiny.safetensors")
    state["backbone.embed.weight"] = _seeded(32, 100, 7, seed=6, scale=0.05)
    state["head.out.weight"] = _seeded(1026, 32, seed=7, scale=0.1)
    state["head.out.bias"] = torch.zeros(1026)
    torch.save(state, folder / "pytorch_model.bin")
    return folder
