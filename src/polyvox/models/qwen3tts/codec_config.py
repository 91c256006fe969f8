"""Sizes of the 12 Hz speech tokenizer, read from its `config.json`."""

import math
from dataclasses import dataclass

from polyvox.models.loading import WeightsError
from polyvox.models.qwen3tts.config import Json, SectionReader


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """Sizes of one of the tokenizer's transformers."""

    hidden: int
    feed_forward: int
    layers: int
    heads: int
    head_width: int
    rope_theta: float
    norm_eps: float

    @classmethod
    def read(cls, section: SectionReader, norm_eps: str) -> "TransformerConfig":
        return cls(
            hidden=section.number("hidden_size"),
            feed_forward=section.number("intermediate_size"),
            layers=section.number("num_hidden_layers"),
            heads=section.number("num_attention_heads"),
            head_width=section.number("head_dim"),
            rope_theta=section.real("rope_theta"),
            norm_eps=section.real(norm_eps),
        )


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """The encoder: samples to frames of codes."""

    transformer: TransformerConfig
    filters: int
    ratios: tuple[int, ...]
    kernel: int
    residual_kernel: int
    last_kernel: int
    compress: int
    codebook: int
    codebook_width: int
    quantizers: int
    """Quantizers in the file; of these the first `groups` are used."""
    groups: int


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """The decoder: frames of codes to samples."""

    transformer: TransformerConfig
    window: int
    """Frames that a frame attends to, itself included."""
    groups: int
    codebook: int
    codebook_width: int
    quantized: int
    latent: int
    channels: int
    upsampling: tuple[int, ...]
    rates: tuple[int, ...]

    @property
    def hop(self) -> int:
        """Samples of a frame."""
        return math.prod((*self.upsampling, *self.rates))


@dataclass(frozen=True, slots=True)
class TokenizerConfig:
    """Both halves of the tokenizer."""

    encoder: EncoderConfig
    decoder: DecoderConfig
    sample_rate: int

    @classmethod
    def parse(cls, config: Json) -> "TokenizerConfig":
        """Read a published `speech_tokenizer/config.json`; `WeightsError` names an entry that does not fit."""
        reader = SectionReader(config, "speech_tokenizer/config.json: ")
        encoder, decoder = reader.section("encoder_config"), reader.section("decoder_config")
        groups, rate = reader.number("encoder_valid_num_quantizers"), reader.number("output_sample_rate")
        if reader.number("input_sample_rate") != rate or decoder.number("num_quantizers") != groups:
            raise WeightsError("speech_tokenizer/config.json: encoder and decoder differ in rate or codes a frame.")
        return cls(_encoder(encoder, groups), _decoder(decoder), rate)


def _encoder(section: SectionReader, groups: int) -> EncoderConfig:
    return EncoderConfig(
        transformer=TransformerConfig.read(section, "norm_eps"),
        filters=section.number("num_filters"),
        ratios=section.numbers("upsampling_ratios"),
        kernel=section.number("kernel_size"),
        residual_kernel=section.number("residual_kernel_size"),
        last_kernel=section.number("last_kernel_size"),
        compress=section.number("compress"),
        codebook=section.number("codebook_size"),
        codebook_width=section.number("codebook_dim"),
        quantizers=section.number("num_quantizers"),
        groups=groups,
    )


def _decoder(section: SectionReader) -> DecoderConfig:
    return DecoderConfig(
        transformer=TransformerConfig.read(section, "rms_norm_eps"),
        window=section.number("sliding_window"),
        groups=section.number("num_quantizers"),
        codebook=section.number("codebook_size"),
        codebook_width=section.number("codebook_dim") // 2,
        quantized=section.number("codebook_dim"),
        latent=section.number("latent_dim"),
        channels=section.number("decoder_dim"),
        upsampling=section.numbers("upsampling_ratios"),
        rates=section.numbers("upsample_rates"),
    )
