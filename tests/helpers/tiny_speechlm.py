"""A whole tiny model on disk: a language model with its tokenizer, and a codec, all seeded."""

import json
from dataclasses import replace
from pathlib import Path

import onnx
import torch
from onnx import TensorProto, helper
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from helpers.seeded_codec import seeded_codec_state
from helpers.tiny_lm import tiny_state
from polyvox.config import Settings
from polyvox.engines.speechlm.prompt_builder import END, SPEECH, START, code_text
from polyvox.installation import settings_loader
from polyvox.models.qwen.model import QwenConfig
from polyvox.models.speechlm.codec_lm import CodecLmConfig
from polyvox.models.speechlm.neucodec import TOKENS, NeuCodecConfig

ENCODER_GOLDEN = Path(__file__).parents[1] / "golden" / "neucodec_encoder"
CODES = 512
BYTES = 256
CODEC = NeuCodecConfig(hidden=64, depth=2, heads=4, hop=480)
CODEC_SEED = 41
BACKBONE = QwenConfig(
    vocabulary=BYTES + 3 + CODES,
    hidden=32,
    feed_forward=64,
    layers=2,
    heads=4,
    key_heads=2,
    head_width=8,
    qkv_bias=False,
    qk_norm=True,
)


def write_tiny_model(folder: Path, *, gain: float = 3.0) -> Path:
    """The folders `speechlm` and `neucodec` as an operator would lay them out."""
    write_tiny_lm(folder / "speechlm", gain=gain)
    write_tiny_codec(folder / "neucodec")
    return folder


def write_cloning_model(folder: Path) -> Path:
    """The same with all tokens of the codec in the vocabulary, and with NeuCodec's encoder beside the decoder."""
    write_tiny_lm(folder / "speechlm", codes=TOKENS)
    write_whole_codec(folder / "neucodec")
    return folder


def write_tiny_lm(folder: Path, *, gain: float = 3.0, codes: int = CODES) -> None:
    folder.mkdir(parents=True)
    backbone = replace(BACKBONE, vocabulary=BYTES + 3 + codes)
    config = CodecLmConfig(first_code=BYTES + 3, end=BYTES + 1, codes=codes, backbone=backbone)
    state = tiny_state(config, gain=gain)
    state["lm_head.weight"][config.end] = 0.0  # so that speech seldom ends before its greatest length
    names = sorted(state)
    save_file({name: state[name] for name in names[::2]}, folder / "model-00001-of-00002.safetensors")
    save_file({name: state[name] for name in names[1::2]}, folder / "model-00002-of-00002.safetensors")
    sizes = {
        "model_type": "qwen3",
        "vocab_size": backbone.vocabulary,
        "hidden_size": BACKBONE.hidden,
        "intermediate_size": BACKBONE.feed_forward,
        "num_hidden_layers": BACKBONE.layers,
        "num_attention_heads": BACKBONE.heads,
        "num_key_value_heads": BACKBONE.key_heads,
        "head_dim": BACKBONE.head_width,
        "rope_theta": BACKBONE.rope_theta,
        "rms_norm_eps": BACKBONE.norm_eps,
    }
    (folder / "config.json").write_text(json.dumps(sizes))
    tiny_tokenizer(codes).save(str(folder / "tokenizer.json"))


def write_tiny_codec(folder: Path) -> None:
    folder.mkdir(parents=True)
    save_file(seeded_codec_state(CODEC, CODEC_SEED), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"heads": CODEC.heads}))


def write_whole_codec(folder: Path, *, without: str = "-") -> None:
    """NeuCodec as it is published, less the weights whose names begin with `without`."""
    folder.mkdir(parents=True)
    state = {name: tensor for name, tensor in whole_codec_state().items() if not name.startswith(without)}
    torch.save(state, folder / "pytorch_model.bin")


def whole_codec_state() -> dict[str, Tensor]:
    """A seeded decoder, and the encoder of the recorded tensors."""
    return seeded_codec_state(CODEC, CODEC_SEED) | load_file(ENCODER_GOLDEN / "weights_tiny.safetensors")


def write_encoder(path: Path) -> None:
    """A graph that hears one token in every 320 samples at 16 kHz: its level in thousandths and 200."""
    nodes = [
        helper.make_node("AveragePool", ["audio"], ["level"], kernel_shape=[320], strides=[320]),
        helper.make_node("Mul", ["level", "scale"], ["scaled"]),
        helper.make_node("Add", ["scaled", "offset"], ["shifted"]),
        helper.make_node("Cast", ["shifted"], ["codes"], to=TensorProto.INT64),
    ]
    graph = helper.make_graph(
        nodes,
        "encoder",
        [helper.make_tensor_value_info("audio", TensorProto.FLOAT, [1, 1, "samples"])],
        [helper.make_tensor_value_info("codes", TensorProto.INT64, [1, 1, "tokens"])],
        [
            helper.make_tensor("scale", TensorProto.FLOAT, [1], [1000.0]),
            helper.make_tensor("offset", TensorProto.FLOAT, [1], [200.0]),
        ],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


def tiny_tokenizer(codes: int = CODES) -> Tokenizer:
    """Bytes, then the control tokens and the codec's, as they are added to a published vocabulary."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: place for place, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in (START, END)])
    tokenizer.add_tokens([SPEECH, *(code_text(code) for code in range(codes))])
    return tokenizer


def tiny_speechlm_settings(models_dir: Path, **overrides: object) -> Settings:
    """Settings for a server with the one model `speechlm`, untouched by the surrounding environment."""
    values = {
        "models": ["speechlm"],
        "default_model": "speechlm",
        "default_voice": "husein",
        "models_dir": models_dir,
        "data_dir": models_dir / "data",
        "speechlm_device": "cpu",
        "speechlm_cache_bytes": 16 << 20,
        "speechlm_max_tokens": 200,
        **overrides,
    }
    return settings_loader().given(**values)
