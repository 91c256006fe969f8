"""Folders of tiny Qwen3-TTS models in the published layout, and engines that speak with them."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from helpers.qwen3tts_golden import MODELS
from polyvox.config import Settings
from polyvox.engines.qwen3tts.engine import Qwen3TtsEngine
from polyvox.engines.qwen3tts.variants import VARIANTS
from polyvox.installation import load_settings

TINY = {
    "qwen3tts-0.6b": "base",
    "qwen3tts-1.7b-custom-voice": "custom_voice",
    "qwen3tts-1.7b-voice-design": "voice_design",
}
"""Which of the recorded models stands for a released one."""


def install(model: str, models_dir: Path) -> Path:
    """Put the tiny model that stands for a released one into a folder of models."""
    folder = models_dir / model
    shutil.copytree(MODELS / TINY[model], folder)
    if not (folder / "speech_tokenizer").is_dir():
        shutil.copytree(MODELS / "base" / "speech_tokenizer", folder / "speech_tokenizer")
    return folder


def settings(models_dir: Path, **more: object) -> Settings:
    given = {"models_dir": models_dir, "qwen3tts_device": "cpu", "qwen3tts_streams": 4, "qwen3tts_max_frames": 40}
    return load_settings(**{**given, **more})


@asynccontextmanager
async def tiny_engine(model: str, models_dir: Path, **more: object) -> AsyncIterator[Qwen3TtsEngine]:
    install(model, models_dir)
    engine = Qwen3TtsEngine(VARIANTS[model], settings(models_dir, **more))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()
