"""Folders of tiny Pocket TTS models in the published layout, and engines that speak with them."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from helpers.pockettts_golden import FOLDER
from polyvox.config import Settings
from polyvox.engines.pockettts.engine import PocketTtsEngine
from polyvox.engines.pockettts.variants import VARIANTS
from polyvox.installation import load_settings

MODEL, SMALL = "pockettts", "pockettts-2m"
VOICE = "alba"
TINY = {MODEL: "main", SMALL: "small"}
"""Which of the recorded models stands for a released one."""


def install(model: str, models_dir: Path) -> Path:
    """Put the tiny model that stands for a released one into a folder of models, with a voice where there is one."""
    folder = models_dir / model
    shutil.copytree(FOLDER / TINY[model], folder)
    if model == MODEL:
        (folder / "embeddings").mkdir()
        shutil.copy(FOLDER / "voice.safetensors", folder / "embeddings" / f"{VOICE}.safetensors")
    return folder


def settings(models_dir: Path, **more: object) -> Settings:
    given = {"models_dir": models_dir, "pockettts_device": "cpu", "pockettts_streams": 4}
    return load_settings(**{**given, **more})


@asynccontextmanager
async def tiny_engine(model: str, models_dir: Path, **more: object) -> AsyncIterator[PocketTtsEngine]:
    if not (models_dir / model).is_dir():
        install(model, models_dir)
    engine = PocketTtsEngine(VARIANTS[model], settings(models_dir, **more))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()
