"""Sizes of a Pocket TTS model, read from the configuration in its makers' schema."""

from collections.abc import Mapping
from dataclasses import dataclass

from polyvox.models.loading import WeightsError
from polyvox.models.qwen3tts.config import SectionReader

Section = Mapping[str, object]

HEADS = ("lsd", "pointwise", "drifting", "flow_matching")
"""Kinds of flow heads: how the network's output and the noise make a latent."""
_MOST = 16_384
"""More than any width or number of layers of a released model: larger sizes are a damaged file."""


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """A causal transformer with rotary positions."""

    width: int
    heads: int
    key_heads: int
    head_width: int
    layers: int
    feed_forward: int
    period: float
    window: int | None = None
    """Positions that a query attends to, itself included; None: all before it."""


@dataclass(frozen=True, slots=True)
class SeanetConfig:
    """The convolutions of one side of the codec."""

    width: int
    filters: int
    ratios: tuple[int, ...]
    kernel: int
    residual_kernel: int
    last_kernel: int
    compress: int

    @property
    def hop(self) -> int:
        """Samples of a column."""
        product = 1
        for ratio in self.ratios:
            product *= ratio
        return product


@dataclass(frozen=True, slots=True)
class CodecConfig:
    """Mimi without its quantiser."""

    latent: int
    prompt_latent: int
    """Width of the encoder's latents."""
    sample_rate: int
    frame: int
    """Samples of a frame."""
    encoder: SeanetConfig
    encoder_transformer: TransformerConfig
    decoder: SeanetConfig
    decoder_transformer: TransformerConfig

    @property
    def columns(self) -> int:
        """Columns of a frame."""
        return self.frame // self.decoder.hop


@dataclass(frozen=True, slots=True)
class HeadConfig:
    """The flow head: an MLP that turns noise into a latent."""

    kind: str
    width: int
    depth: int


@dataclass(frozen=True, slots=True)
class PocketConfig:
    """One model; it speaks one language."""

    transformer: TransformerConfig
    head: HeadConfig
    codec: CodecConfig
    vocabulary: int
    """Pieces of the tokenizer."""
    rank: int | None
    """Width of the text table where it is narrower than the rows."""
    condition: int | None
    """Width of the head's condition where it is narrower than the rows."""
    begins_voice: bool
    """True if a learned row stands before a voice."""

    @classmethod
    def parse(cls, config: Section) -> "PocketConfig":
        """Read a configuration; `WeightsError` names an entry that is missing or of another kind."""
        reader = _Reader(config, "config: ")
        lm, mimi = reader.part("flow_lm"), reader.part("mimi")
        flow, table = lm.part("flow"), lm.part("lookup_table")
        kind = flow.word("type", "lsd")
        if kind not in HEADS:
            raise WeightsError(f"config: flow_lm.flow.type {kind!r} is not one of {', '.join(HEADS)}.")
        return cls(
            transformer=lm.part("transformer").backbone(),
            head=HeadConfig(kind, flow.size("dim"), flow.size("depth")),
            codec=mimi.codec(),
            vocabulary=table.size("n_bins", most=1_000_000),
            rank=table.size_or_none("rank"),
            condition=lm.size_or_none("z_dim"),
            begins_voice=lm.flag("insert_bos_before_voice"),
        )


class _Reader(SectionReader):
    """Entries of a section, with the defaults of the schema."""

    def part(self, name: str) -> "_Reader":
        found = self._section.get(name)
        if not isinstance(found, Mapping):
            raise self._fault(name, "a section")
        return _Reader(found, f"{self._path}{name}.")

    def size(self, name: str, *, most: int = _MOST) -> int:
        found = self.number(name)
        if not 0 < found <= most:
            raise self._fault(name, f"a size of 1 to {most}")
        return found

    def size_or_none(self, name: str) -> int | None:
        return None if self._section.get(name) is None else self.size(name)

    def word(self, name: str, default: str) -> str:
        return self.text(name) if name in self._section else default

    def flag(self, name: str) -> bool:
        found = self._section.get(name, False)
        if not isinstance(found, bool):
            raise self._fault(name, "true or false")
        return found

    def backbone(self) -> TransformerConfig:
        width, heads = self.size("d_model"), self.size("num_heads")
        attention = self.size_or_none("attn_dim") or width
        key_heads = self.size_or_none("num_kv_heads") or heads
        hidden = self.size_or_none("dim_feedforward") or round(width * self.real("hidden_scale"))
        if attention % heads or heads % key_heads:
            raise self._fault("num_heads", "a divisor of the width, and a multiple of num_kv_heads")
        period = self.real("max_period")
        return TransformerConfig(width, heads, key_heads, attention // heads, self.size("num_layers"), hidden, period)

    def windowed(self) -> TransformerConfig:
        width, heads = self.size("d_model"), self.size("num_heads")
        if width % heads:
            raise self._fault("num_heads", "a divisor of the width")
        if self.size("input_dimension") != width or self.numbers("output_dimensions") != (width,):
            raise self._fault("input_dimension", "the width itself, as all released models have it")
        period = self.real("max_period") if "max_period" in self._section else 10_000.0
        return TransformerConfig(
            width,
            heads,
            heads,
            width // heads,
            self.size("num_layers"),
            self.size("dim_feedforward"),
            period,
            self.size("context"),
        )

    def seanet(self) -> SeanetConfig:
        ratios = self.numbers("ratios")
        if not all(0 < each <= _MOST for each in ratios):
            raise self._fault("ratios", "a list of sizes")
        if self.size("n_residual_layers") != 1:
            raise self._fault("n_residual_layers", "1, as all released models have it")
        return SeanetConfig(
            self.size("dimension"),
            self.size("n_filters"),
            ratios,
            self.size("kernel_size"),
            self.size("residual_kernel_size"),
            self.size("last_kernel_size"),
            self.size("compress"),
        )

    def codec(self) -> CodecConfig:
        rate, frames = self.size("sample_rate", most=192_000), self.real("frame_rate")
        encoder = self.part("seanet")
        own = self._section.get("decoder_seanet") is not None
        decoder = self.part("decoder_seanet").seanet() if own else encoder.seanet()
        own = self._section.get("decoder_transformer") is not None
        frame = round(rate / frames) if frames > 0 else 0
        if frame <= 0 or frame % decoder.hop or frame % encoder.seanet().hop:
            raise self._fault("frame_rate", "a whole number of columns a frame")
        return CodecConfig(
            latent=self.part("quantizer").size("dimension"),
            prompt_latent=self.size_or_none("inner_dim") or encoder.size("dimension"),
            sample_rate=rate,
            frame=frame,
            encoder=encoder.seanet(),
            encoder_transformer=self.part("transformer").windowed(),
            decoder=decoder,
            decoder_transformer=self.part("decoder_transformer" if own else "transformer").windowed(),
        )
