"""Sizes and ids of a published Qwen3-TTS model, read from its `config.json`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from polyvox.models.loading import WeightsError
from polyvox.models.qwen.model import QwenConfig

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TextIds:
    """Ids of the text vocabulary with a meaning of their own."""

    im_start: int
    im_end: int
    pad: int
    bos: int
    eos: int


@dataclass(frozen=True, slots=True)
class CodecIds:
    """Ids of the talker's codec vocabulary behind the codes: marks, languages and speakers."""

    pad: int
    bos: int
    eos: int
    think: int
    nothink: int
    think_bos: int
    think_eos: int
    languages: Mapping[str, int] = field(default_factory=dict)
    speakers: Mapping[str, int] = field(default_factory=dict)
    dialects: Mapping[str, str] = field(default_factory=dict)
    """The language of each speaker who speaks a dialect."""


@dataclass(frozen=True, slots=True)
class SpeakerEncoderConfig:
    """Sizes of the speaker encoder, an ECAPA-TDNN."""

    bins: int
    embedding: int
    channels: tuple[int, ...]
    kernels: tuple[int, ...]
    dilations: tuple[int, ...]
    attention: int
    scale: int
    squeezed: int


@dataclass(frozen=True, slots=True)
class Qwen3TtsConfig:
    """One language model: its talker, its code predictor, and the speaker encoder of a model that clones."""

    kind: str
    """`base`, `custom_voice` or `voice_design`."""
    size: str
    talker: QwenConfig
    predictor: QwenConfig
    groups: int
    """Codes of a frame."""
    text_vocabulary: int
    text_width: int
    text_ids: TextIds
    codec_ids: CodecIds
    speaker_encoder: SpeakerEncoderConfig | None

    @property
    def codes(self) -> int:
        """Size of a codebook."""
        return self.predictor.vocabulary

    @classmethod
    def parse(cls, config: Json) -> "Qwen3TtsConfig":
        """Read a published `config.json`; `WeightsError` names an entry that is missing or of another kind."""
        reader = SectionReader(config, "config.json: ")
        talker = reader.section("talker_config")
        predictor = talker.section("code_predictor_config")
        encoder = reader.section("speaker_encoder_config") if "speaker_encoder_config" in config else None
        groups = talker.number("num_code_groups")
        if predictor.number("num_code_groups") != groups:
            raise WeightsError("config.json: talker and code predictor differ in num_code_groups.")
        return cls(
            kind=reader.text("tts_model_type"),
            size=reader.text("tts_model_size"),
            talker=talker.decoder(),
            predictor=predictor.decoder(),
            groups=groups,
            text_vocabulary=talker.number("text_vocab_size"),
            text_width=talker.number("text_hidden_size"),
            text_ids=reader.text_ids(),
            codec_ids=talker.codec_ids(),
            speaker_encoder=None if encoder is None else encoder.speaker_encoder(),
        )


class SectionReader:
    """Entries of one section of a configuration, each checked for its kind."""

    def __init__(self, section: Json, path: str) -> None:
        self._section, self._path = section, path

    def section(self, name: str) -> "SectionReader":
        found = self._section.get(name)
        if not isinstance(found, Mapping):
            raise self._fault(name, "an object")
        return SectionReader(found, f"{self._path}{name}.")

    def number(self, name: str) -> int:
        found = self._section.get(name)
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise self._fault(name, "a whole number")
        return found

    def real(self, name: str) -> float:
        found = self._section.get(name)
        if not isinstance(found, int | float) or isinstance(found, bool):
            raise self._fault(name, "a number")
        return float(found)

    def text(self, name: str) -> str:
        found = self._section.get(name)
        if not isinstance(found, str):
            raise self._fault(name, "a text")
        return found

    def numbers(self, name: str) -> tuple[int, ...]:
        found = self._section.get(name)
        if not isinstance(found, list) or not all(isinstance(each, int) for each in found):
            raise self._fault(name, "a list of whole numbers")
        return tuple(found)

    def ids(self, name: str) -> dict[str, int]:
        found = self._section.get(name) or {}
        if not isinstance(found, Mapping) or not all(isinstance(each, int) for each in found.values()):
            raise self._fault(name, "a table of ids")
        return {str(key).lower(): value for key, value in found.items()}

    def decoder(self) -> QwenConfig:
        """The sizes of one decoder. Its three rotary sections are always at one position: plain rotary embeddings."""
        return QwenConfig(
            vocabulary=self.number("vocab_size"),
            hidden=self.number("hidden_size"),
            feed_forward=self.number("intermediate_size"),
            layers=self.number("num_hidden_layers"),
            heads=self.number("num_attention_heads"),
            key_heads=self.number("num_key_value_heads"),
            head_width=self.number("head_dim"),
            rope_theta=self.real("rope_theta"),
            norm_eps=self.real("rms_norm_eps"),
            qkv_bias=False,
            qk_norm=True,
        )

    def text_ids(self) -> TextIds:
        names = ("im_start", "im_end", "tts_pad", "tts_bos", "tts_eos")
        return TextIds(*(self.number(f"{name}_token_id") for name in names))

    def codec_ids(self) -> CodecIds:
        dialects = self._section.get("spk_is_dialect") or {}
        if not isinstance(dialects, Mapping):
            raise self._fault("spk_is_dialect", "a table")
        return CodecIds(
            pad=self.number("codec_pad_id"),
            bos=self.number("codec_bos_id"),
            eos=self.number("codec_eos_token_id"),
            think=self.number("codec_think_id"),
            nothink=self.number("codec_nothink_id"),
            think_bos=self.number("codec_think_bos_id"),
            think_eos=self.number("codec_think_eos_id"),
            languages=self.ids("codec_language_id"),
            speakers=self.ids("spk_id"),
            dialects={str(name).lower(): each for name, each in dialects.items() if isinstance(each, str)},
        )

    def speaker_encoder(self) -> SpeakerEncoderConfig:
        return SpeakerEncoderConfig(
            bins=self.number("mel_dim"),
            embedding=self.number("enc_dim"),
            channels=self.numbers("enc_channels"),
            kernels=self.numbers("enc_kernel_sizes"),
            dilations=self.numbers("enc_dilations"),
            attention=self.number("enc_attention_channels"),
            scale=self.number("enc_res2net_scale"),
            squeezed=self.number("enc_se_channels"),
        )

    def _fault(self, name: str, kind: str) -> WeightsError:
        return WeightsError(f"{self._path}{name} is missing or not {kind}.")
