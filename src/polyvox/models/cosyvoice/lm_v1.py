"""CosyVoice 1's language model: a conformer over the text before a decoder of speech tokens."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import BlockCausalMask
from polyvox.models.cosyvoice import conformer, relative_decoder
from polyvox.models.cosyvoice.conformer import ConformerEncoder, ConformerEncoderConfig
from polyvox.models.cosyvoice.lm import HeadSizes, SpeechPrompt, SpeechTokenLm, with_marks
from polyvox.models.cosyvoice.relative_decoder import RelativeDecoder, RelativeDecoderConfig, with_distances
from polyvox.models.cosyvoice.speech_vocabulary import SpeechVocabulary, vocabulary_v1
from polyvox.models.loading import StateDict, load, renamed, under
from polyvox.models.lookup import lookup

_TEXT_ENCODER, _DECODER = "text_encoder.", "llm."


@dataclass(frozen=True, slots=True)
class Lm1Config:
    """Sizes of version 1's language model; the defaults are those of the released model."""

    text: int = 51_866
    """Text ids."""
    speech: SpeechVocabulary = field(default_factory=vocabulary_v1)
    encoder: ConformerEncoderConfig = field(
        default_factory=lambda: ConformerEncoderConfig(inputs=512, width=1024, heads=16, feed_forward=4096)
    )
    backbone: RelativeDecoderConfig = field(default_factory=RelativeDecoderConfig)
    speaker: int = 192


class CosyVoice1Lm(SpeechTokenLm):
    """The language model of version 1, which is conditioned on the speaker as well."""

    backbone: RelativeDecoder

    def __init__(self, config: Lm1Config) -> None:
        inputs, hidden = config.backbone.inputs, config.backbone.hidden
        sizes = HeadSizes(inputs, hidden, config.speech.speech)
        super().__init__(config.speech, RelativeDecoder(config.backbone), sizes)
        self.config = config
        self.text_embedding = lookup(config.text, config.encoder.inputs)
        self.text_encoder = ConformerEncoder(config.encoder)
        self.text_encoder_affine_layer = nn.Linear(config.encoder.width, inputs)
        self.spk_embed_affine_layer = nn.Linear(config.speaker, inputs)

    def embed_text(self, ids: Tensor) -> Tensor:
        """Encode text ids; a row depends on the ids before it only."""
        rows = functional.embedding(ids, self.text_embedding.weight)
        encoded: Tensor = self.text_encoder_affine_layer(self.text_encoder(rows, BlockCausalMask(ids.shape[1], 1)))
        return encoded

    def embed_speaker(self, prompt: SpeechPrompt) -> tuple[Tensor, ...]:
        if prompt.speaker is None:
            return ()
        speaker = functional.normalize(prompt.speaker, dim=1).to(self.marks.dtype)
        return (self.spk_embed_affine_layer(speaker)[:, None],)


def load_lm1(config: Lm1Config, state: StateDict, dtype: torch.dtype = torch.float32) -> CosyVoice1Lm:
    """Load a published `llm` state dict of version 1."""
    encoder = renamed(conformer.RENAMED, under(_TEXT_ENCODER, state))
    decoder = with_distances(config.backbone, renamed(relative_decoder.RENAMED, under(_DECODER, state)))
    ours = {name: each for name, each in state.items() if not name.startswith((_TEXT_ENCODER, _DECODER))}
    ours |= {f"text_encoder.{name}": each for name, each in encoder.items()}
    ours |= {f"backbone.{name}": each for name, each in decoder.items()}
    return load(lambda: CosyVoice1Lm(config), with_marks(config.speech, ours), dtype)
