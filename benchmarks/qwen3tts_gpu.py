"""Qwen3-TTS' networks with seeded weights of the released sizes, for `benchmarks.streams_gpu`."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from benchmarks.random_weights import randomize
from polyvox.engines.qwen3tts.bundle import Qwen3TtsNetworks
from polyvox.models.qwen.model import QwenConfig
from polyvox.models.qwen3tts.codec_config import DecoderConfig, TransformerConfig
from polyvox.models.qwen3tts.codec_decoder import CodecDecoder
from polyvox.models.qwen3tts.config import CodecIds, Qwen3TtsConfig, TextIds
from polyvox.models.qwen3tts.talker import Talker

FRAMES_PER_SECOND = 12.5
_PREDICTOR = QwenConfig(2048, 1024, 3072, 5, 16, 8, 128, 1e6, 1e-6, qkv_bias=False, qk_norm=True)
_HIDDEN = {"0.6b": 1024, "1.7b": 2048}
_BYTES = 256


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of the language model, and of the codec's decoder."""

    lm: Qwen3TtsConfig
    decoder: DecoderConfig


def released(size: str) -> Sizes:
    """The sizes of a released model: 0.6b or 1.7b."""
    hidden = _HIDDEN[size]
    lm = Qwen3TtsConfig(
        kind="custom_voice",
        size=size,
        talker=replace(_PREDICTOR, vocabulary=3072, hidden=hidden, feed_forward=3 * hidden, layers=28),
        predictor=_PREDICTOR,
        groups=16,
        text_vocabulary=151_936,
        text_width=2048,
        text_ids=TextIds(151_644, 151_645, 151_671, 151_672, 151_673),
        codec_ids=CodecIds(2148, 2149, 2150, 2154, 2155, 2156, 2157, {"english": 2050}, {"ryan": 3061}),
        speaker_encoder=None,
    )
    transformer = TransformerConfig(512, 1024, 8, 16, 64, 10_000.0, 1e-5)
    return Sizes(lm, DecoderConfig(transformer, 72, 16, 2048, 256, 512, 1024, 1536, (2, 2), (8, 5, 4, 3)))


def tiny() -> Sizes:
    """Sizes that a CPU bears."""
    full = released("0.6b")
    small = QwenConfig(64, 32, 32, 1, 2, 1, 16, 1e6, 1e-6, qkv_bias=False, qk_norm=True)
    ids = CodecIds(70, 71, 72, 73, 74, 75, 76, {"english": 77}, {"ryan": 78})
    lm = replace(
        full.lm,
        talker=replace(small, vocabulary=80),
        predictor=small,
        groups=4,
        text_vocabulary=300,
        text_width=16,
        text_ids=TextIds(290, 291, 292, 293, 294),
        codec_ids=ids,
    )
    transformer = TransformerConfig(16, 16, 1, 2, 8, 10_000.0, 1e-5)
    return Sizes(lm, DecoderConfig(transformer, 8, 4, 64, 8, 16, 16, 32, (2, 2), (8, 5, 4, 3)))


@torch.inference_mode()
def random_networks(sizes: Sizes, device: torch.device, dtype: torch.dtype) -> Qwen3TtsNetworks:
    """Networks of these sizes with seeded weights."""
    torch.manual_seed(0)
    with device:
        talker = randomize(Talker(sizes.lm), dtype)
        decoder = randomize(CodecDecoder(sizes.decoder), torch.float32)
    return Qwen3TtsNetworks(sizes.lm, talker, decoder, None, None)


def write_tokenizer(folder: Path) -> None:
    """A tokenizer without merges, every byte an id, and the makers' sampling."""
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    assert len(letters) == _BYTES
    (folder / "vocab.json").write_text(json.dumps({letter: index for index, letter in enumerate(letters)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    (folder / "generation_config.json").write_text("{}")
