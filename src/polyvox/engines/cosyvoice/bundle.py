"""A CosyVoice model folder as published: its files, and the check of its weights."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy.typing as npt
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from polyvox.bundles.disk import sha256_of
from polyvox.bundles.weights import read_plain, read_weights
from polyvox.engines.cosyvoice.frontend.tags import Tags
from polyvox.engines.cosyvoice.frontend.tokenizer import TextTokenizer
from polyvox.engines.cosyvoice.frontend.whisper_tokenizer import WhisperTokenizer, find_vocabulary
from polyvox.engines.cosyvoice.model_config import CosyVoiceConfig, read_config
from polyvox.engines.cosyvoice.voice_file import VOICES_FILE
from polyvox.errors import BundleError
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow
from polyvox.models.cosyvoice.flow_v1 import Flow1, Flow1Config, load_flow1
from polyvox.models.cosyvoice.flow_v2 import Flow2Config, load_flow2
from polyvox.models.cosyvoice.flow_v3 import load_flow3
from polyvox.models.cosyvoice.lm import CosyVoiceLm, load_lm
from polyvox.models.cosyvoice.lm_v1 import CosyVoice1Lm, Lm1Config, load_lm1
from polyvox.models.hift.causal import CausalHift, load_causal_hift
from polyvox.models.hift.model import Hift, load_hift
from polyvox.models.loading import WeightsError, without_prefix
from polyvox.types import PreparedVoice

CONFIG_FILES: Mapping[int, str] = MappingProxyType({3: "cosyvoice3.yaml", 2: "cosyvoice2.yaml", 1: "cosyvoice.yaml"})
"""The file that a folder of each version is recognised by, the preferred version first."""
BACKBONE = "CosyVoice-BlankEN"
_TOKENIZER_FILES = ("config.json", "vocab.json", "merges.txt", "tokenizer_config.json")
_RL = "llm.rl"
_WEIGHTS = ("llm", _RL, "flow", "hift")
"""Files of weights without their suffix; one of the first two is enough."""
_TEXT_HEAD = "llm.model.lm_head.weight"
_SOURCE = "source_sha256"
"""Metadata of converted weights: the hash of the file that they were converted from."""


@dataclass(frozen=True, slots=True)
class CosyVoiceBundle:
    """A folder with all files of one model; the weights are not read yet."""

    folder: Path
    config: CosyVoiceConfig
    lm_name: str = "llm"

    @property
    def version(self) -> int:
        return self.config.version

    @property
    def speech_tokenizer(self) -> Path:
        return self.folder / f"speech_tokenizer_v{self.version}.onnx"

    @property
    def speaker_network(self) -> Path:
        return self.folder / "campplus.onnx"

    @property
    def backbone(self) -> Path:
        return self.folder / BACKBONE

    def tokenizer(self, tags: Tags) -> TextTokenizer | WhisperTokenizer:
        """The text tokenizer; BundleError where it has more ids than the language model."""
        tokenizer = WhisperTokenizer(self.folder) if self.version == 1 else TextTokenizer(self.backbone, tags)
        if tokenizer.largest >= self.config.text_ids:
            raise BundleError(f"The tokenizer in {self.folder} has more ids than the language model; fetch it again.")
        return tokenizer

    def weights_file(self, part: str) -> Path:
        """The file with the weights of `llm`, `flow` or `hift`."""
        return _weights_file(self.folder, self.lm_name if part == "llm" else part)

    def weights(self, part: str) -> dict[str, Tensor]:
        """The state dict of `llm`, `flow` or `hift`."""
        return read_weights(self.weights_file(part))

    def weights_hashes(self, part: str) -> frozenset[str]:
        """The hash of the file of weights, and that of the file that `convert` made it from."""
        path = self.weights_file(part)
        return frozenset((sha256_of(path), *converted_from(path)))

    def lm(self, state: Mapping[str, Tensor], dtype: torch.dtype = torch.float32) -> CosyVoiceLm | CosyVoice1Lm:
        config = self.config.lm
        return load_lm1(config, state, dtype) if isinstance(config, Lm1Config) else load_lm(config, state, dtype)

    def flow(self, state: Mapping[str, Tensor], dtype: torch.dtype = torch.float32) -> Flow | Flow1:
        config = self.config.flow
        if isinstance(config, Flow1Config):
            return load_flow1(config, state, dtype)
        if isinstance(config, Flow2Config):
            return load_flow2(config, state, dtype)
        return load_flow3(config, state, dtype)

    def hift(self, state: Mapping[str, Tensor], dtype: torch.dtype = torch.float32) -> Hift | CausalHift:
        loader = load_causal_hift if self.version == 3 else load_hift
        return loader(self.config.hift, state, dtype)

    def check_weights(self) -> Iterator[str]:
        """Compare names and shapes of all weights with the configuration; one line for each file that fits."""
        for name in _WEIGHTS:
            path = _weights_file(self.folder, name)
            if path.is_file():
                state = {key: tensor.to("meta") for key, tensor in read_weights(path).items()}
                self.build(_part(name), state)
                yield f"{path.name}: {len(state)} tensors, names and shapes fit"

    def build(self, part: str, state: Mapping[str, Tensor], dtype: torch.dtype = torch.float32) -> torch.nn.Module:
        """Build one network with these weights; BundleError says what does not fit."""
        loaders = {"llm": self.lm, "flow": self.flow, "hift": self.hift}
        try:
            return loaders[part](state, dtype)
        except WeightsError as error:
            raise BundleError(f"{part} in {self.folder} does not fit its YAML file: {error}") from error

    def voices(self, engine: str) -> dict[str, PreparedVoice]:
        """The built-in voices of the model by name; there may be none."""
        path = self.folder / VOICES_FILE
        if not path.is_file():
            return {}
        content = read_plain(path)
        if not isinstance(content, dict):
            raise BundleError(f"{VOICES_FILE} does not hold voices by name; fetch it again, or remove it.")
        rate = None if self.version == 1 else FRAMES_PER_TOKEN
        return {str(name): _voice(engine, str(name), entry, rate) for name, entry in content.items()}


def open_model(folder: Path, lm: str = "auto") -> CosyVoiceBundle:
    """Open the model in a folder; BundleError names every missing file.

    `lm` names the language model; `auto` takes the one that reinforcement learning has improved where it is there.
    """
    if not folder.is_dir():
        raise BundleError(
            f"There is no folder {folder}; run `polyvox pull` with cosyvoice1, cosyvoice2 or cosyvoice3, or set the "
            "folder of CosyVoice's files in 'cosyvoice1_dir', 'cosyvoice2_dir' or 'cosyvoice3_dir'."
        )
    version = _version(folder)
    tokenizer = () if version == 1 else tuple(f"{BACKBONE}/{name}" for name in _TOKENIZER_FILES)
    required = [CONFIG_FILES[version], "campplus.onnx", f"speech_tokenizer_v{version}.onnx", *tokenizer]
    missing = [name for name in required if not (folder / name).is_file()]
    lm_name = _lm_name(folder, version, lm)
    missing += [f"{name}.pt" for name in (lm_name, "flow", "hift") if not _weights_file(folder, name).is_file()]
    if missing:
        raise BundleError(
            f"The CosyVoice {version} model in {folder} lacks {', '.join(missing)}; copy these files from where the "
            "model was published."
        )
    if version == 1:
        find_vocabulary(folder)
    config = read_config(folder / CONFIG_FILES[version], folder / BACKBONE / "config.json", version)
    return CosyVoiceBundle(folder, config, lm_name)


def convert(bundle: CosyVoiceBundle) -> list[Path]:
    """Write the weights of each PyTorch file as safetensors beside it, without those that speech never uses.

    A part that fails its check is not written.
    """
    written = []
    for name in _WEIGHTS:
        source = bundle.folder / f"{name}.pt"
        if not source.is_file():
            continue
        state = without_prefix("generator.", read_weights(source))
        bundle.build(_part(name), {key: tensor.to("meta") for key, tensor in state.items()})
        state.pop(_TEXT_HEAD, None)
        target = source.with_suffix(".safetensors")
        unfinished = target.with_suffix(".part")
        tensors = {key: tensor.clone().contiguous() for key, tensor in state.items()}
        save_file(tensors, unfinished, metadata={_SOURCE: sha256_of(source)})
        unfinished.replace(target)
        written.append(target)
    return written


def converted_from(path: Path) -> tuple[str, ...]:
    """The hash of the PyTorch file that a file of weights was converted from; nothing where it was not."""
    if path.suffix != ".safetensors":
        return ()
    try:
        with safe_open(path, "pt") as file:
            source = (file.metadata() or {}).get(_SOURCE)
    except (SafetensorError, OSError) as error:
        raise BundleError(f"{path.name} cannot be read as safetensors ({error}); fetch it again.") from error
    return () if source is None else (source,)


def _version(folder: Path) -> int:
    for version, name in CONFIG_FILES.items():
        if (folder / name).is_file():
            return version
    raise BundleError(f"{folder} holds no CosyVoice model: none of {', '.join(CONFIG_FILES.values())} is there.")


def _lm_name(folder: Path, version: int, lm: str) -> str:
    """The file of the language model, without its suffix; only version 3 was published with a second one."""
    if lm == "auto":
        return _RL if version == 3 and _weights_file(folder, _RL).is_file() else "llm"
    return "llm" if version == 1 else lm


def _weights_file(folder: Path, name: str) -> Path:
    """The safetensors file where there is one, else the published file."""
    converted = folder / f"{name}.safetensors"
    return converted if converted.is_file() else folder / f"{name}.pt"


def _part(name: str) -> str:
    """The network that a file of weights belongs to."""
    return name.partition(".")[0]


def _voice(engine: str, name: str, entry: object, frames_per_token: int | None) -> PreparedVoice:
    """A voice of `spk2info.pt`: a speaker of the training data, or features of a recording.

    Version 1 stretches tokens to any number of frames; elsewhere that is checked.
    """
    if not isinstance(entry, dict):
        raise BundleError(
            f"The voice {name!r} in spk2info.pt has an unknown format; fetch the file again, or remove it."
        )
    embedding = entry.get("embedding", entry.get("flow_embedding"))
    if not isinstance(embedding, Tensor) or embedding.numel() == 0:
        raise BundleError(f"The voice {name!r} in spk2info.pt has no speaker embedding; remove it.")
    arrays = {"embedding": _array(embedding.float().flatten())}
    text, tokens, mel = (entry.get(key) for key in ("prompt_text", "flow_prompt_speech_token", "prompt_speech_feat"))
    if isinstance(text, Tensor) and isinstance(tokens, Tensor) and isinstance(mel, Tensor) and mel.dim() > 0:
        frames = mel.float().reshape(-1, mel.shape[-1])
        if frames_per_token and len(frames) != frames_per_token * tokens.numel():
            raise BundleError(
                f"The voice {name!r} in spk2info.pt has {len(frames)} frames for {tokens.numel()} tokens."
            )
        arrays |= {
            "text": _array(text.int().flatten()),
            "tokens": _array(tokens.int().flatten()),
            "mel": _array(frames.T.contiguous()),
        }
    return PreparedVoice(engine, f"spk2info:{name}", arrays)


def _array(tensor: Tensor) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = tensor.numpy()
    return array
