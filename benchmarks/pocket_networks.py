"""Pocket TTS' networks with seeded weights of the released sizes, for benchmarks."""

from dataclasses import dataclass, replace

import torch
from tokenizers import Tokenizer, decoders, models, normalizers

from benchmarks.random_weights import randomize
from polyvox.engines.pockettts.bundle import ModelRules, PocketNetworks
from polyvox.engines.pockettts.text import MAX_TOKENS, TextChunk, TextDivider, TextRules
from polyvox.engines.pockettts.variants import VARIANTS
from polyvox.models.pockettts.codec_decoder import CodecDecoder
from polyvox.models.pockettts.codec_encoder import CodecEncoder
from polyvox.models.pockettts.config import PocketConfig
from polyvox.models.pockettts.flow_head import FlowHead
from polyvox.models.pockettts.flow_lm import FlowLm

PIECES = 4000
IDS = 25
"""Of a text whose speech has a set length."""
FRAMES_PER_SECOND = 12.5
NEVER_ENDING = (("eos_threshold", 20.0),)
"""Speech goes on to its greatest length, whatever the random weights say."""
RULES = ModelRules(TextRules(), 0.3, -4.0)


def released(model: str) -> PocketConfig:
    """The sizes of a released model."""
    return PocketConfig.parse(VARIANTS[model].config)


def tiny() -> PocketConfig:
    """Sizes that any CPU bears."""
    config = released("pockettts-2m")
    return replace(config, transformer=replace(config.transformer, layers=1), head=replace(config.head, depth=1))


@torch.inference_mode()
def random_networks(config: PocketConfig, device: torch.device, dtype: torch.dtype) -> PocketNetworks:
    """Networks of these sizes with seeded weights."""
    torch.manual_seed(0)
    condition, single = config.condition or config.transformer.width, torch.float32
    with device:
        lm, head = FlowLm(config), FlowHead(config.head, condition, config.codec.latent)
        for module in (lm, head):
            for name, buffer in module.named_buffers():
                buffer.fill_(0.0 if name.endswith("mean") else 1.0)
        return PocketNetworks(
            config,
            randomize(lm, dtype),
            randomize(head, single),
            randomize(CodecDecoder(config.codec), single),
            randomize(CodecEncoder(config.codec), single),
            "seeded",
        )


def letters() -> Tokenizer:
    """A tokenizer of as many pieces as the released ones have; letters and marks are those that it uses."""
    used = [*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?;:' ", "▁"]
    pieces = [("<unk>", -20.0), *((piece, -5.0) for piece in used)]
    pieces += [(f"<{index}>", -20.0) for index in range(len(pieces), PIECES)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(" ", "▁"), normalizers.Prepend("▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return tokenizer


@dataclass(frozen=True, slots=True)
class _SetLengthChunk(TextChunk):
    frames: int

    @property
    def max_frames(self) -> int:
        return self.frames


class SetLengthDivider(TextDivider):
    """Makes one chunk of every text, whose speech may take so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(letters(), TextRules())
        self._frames = round(seconds * FRAMES_PER_SECOND)

    def chunks(self, text: str, max_tokens: int = MAX_TOKENS) -> list[TextChunk]:
        return [_SetLengthChunk(text, (5,) * IDS, 0, self._frames)]
