"""Folders of tiny Chatterbox models in the published layout, and engines that speak with them."""

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from helpers import chatterbox_s3gen
from helpers.chatterbox_t3_golden import FOLDER, GPT2, LLAMA, VOICE_ENCODER, golden, published
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.engines.chatterbox import engine, running_model
from polyvox.engines.chatterbox.bundle import ModelSizes
from polyvox.engines.chatterbox.engine import ChatterboxEngine
from polyvox.engines.chatterbox.sampling import TURBO_SAMPLING, T3Sampling
from polyvox.engines.chatterbox.variants import VARIANTS
from polyvox.engines.spec import EngineFactory
from polyvox.installation import load_settings
from polyvox.models.loading import under

ENGLISH, MULTILINGUAL, TURBO = "chatterbox", "chatterbox-multilingual", "chatterbox-turbo"
MODELS = (ENGLISH, MULTILINGUAL, TURBO)
_BRIEF = 12
"""Speech tokens."""


def sizes(model: str) -> ModelSizes:
    return ModelSizes(GPT2 if VARIANTS[model].turbo else LLAMA, VOICE_ENCODER, chatterbox_s3gen.config())


def install(model: str, models_dir: Path) -> Path:
    """Put a tiny model that stands for a released one into a folder of models, with its makers' voice."""
    folder, turbo = models_dir / model, VARIANTS[model].turbo
    folder.mkdir(parents=True)
    t3 = published("t3_gpt2" if turbo else "t3_llama")
    encoder = under("weights.", golden("voice_encoder"))
    s3gen = chatterbox_s3gen.weights(turbo=turbo)
    tokenizers = FOLDER / "tokenizers"
    if model == MULTILINGUAL:
        torch.save({"model": [t3]}, folder / "t3_23lang.pt")
        torch.save(s3gen, folder / "s3gen.pt")
        torch.save(encoder, folder / "ve.pt")
        shutil.copy(tokenizers / "tokenizer_multilingual_v1.json", folder / "mtl_tokenizer.json")
        shutil.copy(tokenizers / "cangjie_tiny.json", folder / "Cangjie5_TC.json")
    else:
        save_file(_contiguous(t3), folder / f"{VARIANTS[model].t3[0]}.safetensors")
        save_file(_contiguous(s3gen), folder / f"{VARIANTS[model].s3gen[0]}.safetensors")
        save_file(_contiguous(encoder), folder / "ve.safetensors")
    if turbo:
        shutil.copytree(tokenizers / "turbo_tiny", folder, dirs_exist_ok=True)
    elif model == ENGLISH:
        shutil.copy(tokenizers / "tokenizer_english.json", folder / "tokenizer.json")
    torch.save(makers_voice(), folder / "conds.pt")
    return folder


def makers_voice() -> dict[str, dict[str, Tensor | None]]:
    """A voice as the makers save it."""
    known = chatterbox_s3gen.recorded()
    return {
        "t3": {
            "speaker_emb": golden("t3")["whole_english.speaker_emb"][None],
            "cond_prompt_speech_tokens": known["voice.t3_prompt_tokens"][None],
            "emotion_adv": torch.full((1, 1, 1), 0.5),
            "clap_emb": None,
            "cond_prompt_speech_emb": None,
        },
        "gen": {
            "prompt_token": known["voice.prompt_token"].long()[None],
            "prompt_token_len": torch.tensor([140]),
            "prompt_feat": known["voice.prompt_feat"][None],
            "prompt_feat_len": None,
            "embedding": known["voice.embedding"][None],
        },
    }


def settings(models_dir: Path, **more: object) -> Settings:
    given = {"models_dir": models_dir, "chatterbox_device": "cpu", "chatterbox_streams": 4}
    return load_settings(**{**given, **more})


def factories() -> Mapping[str, EngineFactory]:
    """Those of all models, with tiny networks in these."""
    tiny = {model: partial(ChatterboxEngine, VARIANTS[model], sizes=sizes(model)) for model in MODELS}
    return {**Catalog.installed().factories, **tiny}


def expect_tiny_weights(patch: pytest.MonkeyPatch) -> None:
    """Let engines that are made by the catalog have the sizes of these models, which no file of theirs tells."""
    patch.setattr(engine, "released_sizes", lambda variant: sizes(variant.name))


def speak_briefly(patch: pytest.MonkeyPatch, tokens: int = _BRIEF) -> None:
    """Let engines that start from here on end speech after so many tokens; tiny weights never end it by themselves."""
    patch.setattr(running_model, "T3Sampling", partial(T3Sampling, max_tokens=tokens))
    patch.setattr(running_model, "TURBO_SAMPLING", replace(TURBO_SAMPLING, max_tokens=tokens))


@asynccontextmanager
async def tiny_engine(model: str, models_dir: Path, **more: object) -> AsyncIterator[ChatterboxEngine]:
    if not (models_dir / model).is_dir():
        install(model, models_dir)
    made = ChatterboxEngine(VARIANTS[model], settings(models_dir, **more), sizes(model))
    await made.start()
    try:
        yield made
    finally:
        await made.close()


def _contiguous(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: each.contiguous() for name, each in state.items()}
