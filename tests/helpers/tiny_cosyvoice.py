"""Whole CosyVoice models of tiny size, laid out as published ones are.

`python tests/helpers/tiny_cosyvoice.py FOLDER 3` makes one to try servers and clients with: it murmurs.
"""

import base64
import sys
import wave
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from polyvox.types import VoicePrompt

GOLDEN = Path(__file__).parents[1] / "golden"
FRONTEND = GOLDEN / "frontend"
TEXT_IDS_V1 = 256 + 1609
SPEECH_TOKENS = 300
"""Speech tokens of all versions; those behind them end speech."""
SEED = 5_751_740_483_655_848_561
"""The seed of utterances whose recorded lengths and levels tests compare with."""


def tiny_model(folder: Path, version: int) -> Path:
    """Make a folder that the engine can load; its files are links, to be replaced rather than written to."""
    folder.mkdir(parents=True, exist_ok=True)
    if version == 1:
        return _tiny_model_v1(folder)
    for path in (FRONTEND / f"cosyvoice{version}").iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "CosyVoice-BlankEN").symlink_to(FRONTEND / "CosyVoice-BlankEN")
    for part in ("llm", "flow", "hift"):
        (folder / f"{part}.safetensors").symlink_to(GOLDEN / f"cosyvoice{version}" / f"weights_{part}.safetensors")
    return folder


def _tiny_model_v1(folder: Path) -> Path:
    """Version 1's vocabulary comes from elsewhere: here it is the 256 bytes, and the text embedding is as short."""
    origin = GOLDEN / "cosyvoice1"
    for part in ("flow", "hift"):
        (folder / f"{part}.safetensors").symlink_to(origin / f"weights_{part}.safetensors")
    for path in (*(origin / "bundle").iterdir(), FRONTEND / "cosyvoice2" / "campplus.onnx"):
        if path.name != "cosyvoice.yaml":
            (folder / path.name).symlink_to(path)
    yaml = (origin / "bundle" / "cosyvoice.yaml").read_text()
    (folder / "cosyvoice.yaml").write_text(yaml.replace("text_token_size: 400", f"text_token_size: {TEXT_IDS_V1}"))
    weights = load_file(origin / "weights_llm.safetensors")
    weights["text_embedding.weight"] = np.resize(weights["text_embedding.weight"], (TEXT_IDS_V1, 32))
    save_file(weights, folder / "llm.safetensors")
    lines = (f"{base64.b64encode(bytes([byte])).decode()} {byte}" for byte in range(256))
    (folder / "multilingual.tiktoken").write_text("\n".join(lines) + "\n")
    return folder


def let_speech_end(folder: Path) -> Path:
    """Let a tiny model end its speech about as soon as it may; as it is, it often goes on to its greatest length."""
    path = folder / "llm.safetensors"
    weights = load_file(path)
    weights["llm_decoder.weight"][:SPEECH_TOKENS] *= 0.1
    if "llm_decoder.bias" in weights:
        weights["llm_decoder.bias"][SPEECH_TOKENS:] += 10
    path.unlink()
    save_file(weights, path)
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
