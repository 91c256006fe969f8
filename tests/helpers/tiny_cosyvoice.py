"""Whole CosyVoice models of tiny size, laid out as published ones are.

`python tests/helpers/tiny_cosyvoice.py FOLDER 3` makes one to try servers and clients with: it murmurs.
"""

import sys
import wave
from pathlib import Path

import numpy as np

from polyvox.types import VoicePrompt

GOLDEN = Path(__file__).parents[1] / "golden"
FRONTEND = GOLDEN / "frontend"
SEED = 5_751_740_483_655_848_561
"""The seed of utterances whose recorded lengths and levels tests compare with."""


def tiny_model(folder: Path, version: int) -> Path:
    """Make a folder that the engine can load; its files are links, to be replaced rather than written to."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (FRONTEND / f"cosyvoice{version}").iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "CosyVoice-BlankEN").symlink_to(FRONTEND / "CosyVoice-BlankEN")
    for part in ("llm", "flow", "hift"):
        (folder / f"{part}.safetensors").symlink_to(GOLDEN / f"cosyvoice{version}" / f"weights_{part}.safetensors")
    return folder


def recording() -> np.ndarray:
    """1.73 s at 24 kHz."""
    with wave.open(str(FRONTEND / "prompt_24k.wav")) as file:
        assert file.getframerate() == 24_000
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def prompt(transcript: str = "a word", seconds: float | None = None) -> VoicePrompt:
    pcm = recording()
    return VoicePrompt(pcm if seconds is None else np.resize(pcm, int(24_000 * seconds)), 24_000, transcript, "d" * 64)


if __name__ == "__main__":
    print(tiny_model(Path(sys.argv[1]), int(sys.argv[2])))
