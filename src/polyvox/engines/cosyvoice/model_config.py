"""The configuration of a CosyVoice model, read from its YAML file as plain data: its tags run nothing."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from polyvox.errors import BundleError
from polyvox.models.cosyvoice.conformer import ConformerConfig, ConformerEncoderConfig
from polyvox.models.cosyvoice.dit import DiTConfig
from polyvox.models.cosyvoice.flow import FlowConfig
from polyvox.models.cosyvoice.flow_v1 import OVERLAP_TOKENS, Flow1Config
from polyvox.models.cosyvoice.flow_v2 import Flow2Config
from polyvox.models.cosyvoice.flow_v3 import Flow3Config
from polyvox.models.cosyvoice.lm import CosyVoiceLmConfig
from polyvox.models.cosyvoice.lm_v1 import Lm1Config
from polyvox.models.cosyvoice.relative_decoder import RelativeDecoderConfig
from polyvox.models.cosyvoice.sampling import SamplingConfig
from polyvox.models.cosyvoice.speech_vocabulary import vocabulary_v1, vocabulary_v2, vocabulary_v3
from polyvox.models.cosyvoice.unet import UNetConfig
from polyvox.models.hift.filter import FilterConfig
from polyvox.models.hift.model import OVERLAP_FRAMES, HiftConfig
from polyvox.models.hift.source import SourceConfig
from polyvox.models.qwen.model import QwenConfig

SAMPLE_RATE = 24_000
SAMPLE_RATES = MappingProxyType({1: 22_050, 2: SAMPLE_RATE, 3: SAMPLE_RATE})
CAPACITY = 4096
"""Positions of one sequence of the language model: prompt, text and speech."""

_TOKEN_RATE = 50
_VOCODER_OVERLAP = 20
"""Of version 1: speech tokens per second, and mel frames that two chunks of the vocoder have in common."""
_MAX_BYTES = 1 << 20
_REFERENCE = re.compile(r"<([A-Za-z0-9_]+)>")
_MOST = 1 << 20


@dataclass(frozen=True, slots=True)
class CosyVoiceConfig:
    """Sizes of the networks of one model, its sampling parameters, and its mel scale."""

    version: int
    lm: CosyVoiceLmConfig | Lm1Config
    flow: Flow1Config | Flow2Config | Flow3Config
    hift: HiftConfig
    sampling: SamplingConfig
    mel_fmax: float | None
    """Upper edge of the mel scale in hertz; None is half the sample rate."""

    @property
    def speech_ids(self) -> int:
        """Number of speech tokens."""
        return self.lm.speech.speech

    @property
    def text_ids(self) -> int:
        """Number of text ids."""
        return self.lm.text if isinstance(self.lm, Lm1Config) else self.lm.backbone.vocabulary

    @property
    def sample_rate(self) -> int:
        return SAMPLE_RATES[self.version]


class _DataLoader(yaml.SafeLoader):
    """Reads every node as plain data, whatever its tag asks for."""


def _as_data(loader: yaml.SafeLoader, _tag: str, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.ScalarNode)
    return loader.construct_scalar(node)


_DataLoader.add_multi_constructor("!", _as_data)


class _Section:
    """A mapping of the file; BundleError names the path of an entry that is missing or of the wrong type."""

    def __init__(self, file: str, path: str, content: object, root: Mapping[str, Any]) -> None:
        if not isinstance(content, dict):
            raise BundleError(f"{file} has no section {path!r}; fetch the model's files again.")
        self._file, self._path, self._content, self._root = file, path, content, root

    def section(self, name: str) -> "_Section":
        return _Section(self._file, f"{self._path}.{name}".lstrip("."), self._content.get(name), self._root)

    def integer(self, name: str, default: int | None = None) -> int:
        """A positive integer; a reference to a value at the top of the file is resolved."""
        value = self._resolved(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
            raise self._wrong(name, "a whole number from 1 on")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        value = self._resolved(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "a number")
        return float(value)

    def optional_number(self, name: str) -> float | None:
        return None if self._content.get(name) is None else self.number(name)

    def integers(self, name: str) -> tuple[int, ...]:
        value = self._resolved(name, None)
        if (
            not isinstance(value, list)
            or not value
            or not all(type(item) is int and 1 <= item <= _MOST for item in value)
        ):
            raise self._wrong(name, "a list of whole numbers from 1 on")
        return tuple(value)

    def _resolved(self, name: str, default: object) -> object:
        value = self._content.get(name, default)
        reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        return self._root.get(reference[1]) if reference else value

    def _wrong(self, name: str, wanted: str) -> BundleError:
        path = f"{self._path}.{name}".lstrip(".")
        return BundleError(f"{self._file} should have {wanted} at {path!r}; fetch the model's files again.")


def read_config(path: Path, backbone: Path, version: int) -> CosyVoiceConfig:
    """Read a model's YAML file and, from version 2 on, its backbone's `config.json`."""
    root = _content(path)
    top = _Section(path.name, "", root, root)
    rate, known = top.integer("sample_rate"), SAMPLE_RATES[version]
    if rate != known:
        raise BundleError(f"{path.name} is of a model at {rate} Hz; known are those at {known} Hz.")
    sampling = top.section("llm").section("sampling")
    return CosyVoiceConfig(
        version=version,
        lm=_lm1(top) if version == 1 else _lm(top, backbone, version),
        flow=_flow(top, version),
        hift=_hift(top.section("hift"), version),
        sampling=SamplingConfig(
            top_p=sampling.number("top_p"),
            top_k=sampling.integer("top_k"),
            window=sampling.integer("win_size"),
            tolerated_share=sampling.number("tau_r"),
        ),
        mel_fmax=top.section("feat_extractor").optional_number("fmax"),
    )


def _content(path: Path) -> dict[str, Any]:
    raw = path.read_bytes()
    if len(raw) > _MAX_BYTES:
        raise BundleError(f"{path.name} is too large for a description of a model; fetch it again.")
    try:
        content = yaml.load(raw, Loader=_DataLoader)  # noqa: S506 - a SafeLoader whose unknown tags are data
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = str(error).split("\n", 1)[0]
        raise BundleError(f"{path.name} is not YAML ({reason}); fetch it again.") from error
    if not isinstance(content, dict):
        raise BundleError(f"{path.name} does not describe a model; fetch it again.")
    return content


def _lm(top: _Section, backbone: Path, version: int) -> CosyVoiceLmConfig:
    speech = top.section("llm").integer("speech_token_size")
    return CosyVoiceLmConfig(
        speech=vocabulary_v2(speech) if version == 2 else vocabulary_v3(speech),
        backbone=_backbone(backbone),
        head_bias=version == 2,
    )


def _lm1(top: _Section) -> Lm1Config:
    lm = top.section("llm")
    decoder = lm.section("llm")
    return Lm1Config(
        text=lm.integer("text_token_size"),
        speech=vocabulary_v1(lm.integer("speech_token_size")),
        encoder=_encoder(lm.section("text_encoder")),
        backbone=RelativeDecoderConfig(
            inputs=decoder.integer("input_size"),
            hidden=decoder.integer("output_size"),
            feed_forward=decoder.integer("linear_units"),
            layers=decoder.integer("num_blocks"),
            heads=decoder.integer("attention_heads"),
            positions=CAPACITY,
        ),
        speaker=lm.integer("spk_embed_dim"),
    )


def _encoder(section: _Section) -> ConformerEncoderConfig:
    return ConformerEncoderConfig(
        inputs=section.integer("input_size"),
        width=section.integer("output_size"),
        heads=section.integer("attention_heads"),
        feed_forward=section.integer("linear_units"),
        blocks=section.integer("num_blocks"),
    )


def _backbone(path: Path) -> QwenConfig:
    try:
        content = json.loads(path.read_bytes()[:_MAX_BYTES])
    except ValueError as error:
        raise BundleError(f"{path.name} of the backbone is not JSON; fetch it again.") from error
    top = _Section(path.name, "", content, {})
    heads, hidden = top.integer("num_attention_heads"), top.integer("hidden_size")
    return QwenConfig(
        vocabulary=top.integer("vocab_size"),
        hidden=hidden,
        feed_forward=top.integer("intermediate_size"),
        layers=top.integer("num_hidden_layers"),
        heads=heads,
        key_heads=top.integer("num_key_value_heads"),
        head_width=hidden // heads,
        rope_theta=top.number("rope_theta"),
        norm_eps=top.number("rms_norm_eps"),
    )


def _common(flow: _Section, ahead: int, chunk: int) -> FlowConfig:
    content = flow.section("decoder").section("cfm_params").section("content")
    return FlowConfig(
        tokens=flow.integer("vocab_size"),
        bins=flow.integer("output_size"),
        speaker=flow.integer("spk_embed_dim"),
        ahead=ahead,
        block=chunk,
        guidance=content.number("inference_cfg_rate"),
    )


def _flow(top: _Section, version: int) -> Flow1Config | Flow2Config | Flow3Config:
    if version == 1:
        return _flow1(top)
    return _flow2(top) if version == 2 else _flow3(top)


def _flow1(top: _Section) -> Flow1Config:
    flow = top.section("flow")
    rate = flow.integer("input_frame_rate")
    if rate != _TOKEN_RATE:
        raise BundleError(f"The model has {rate} speech tokens a second; known of version 1 are those with 50.")
    return Flow1Config(
        flow=_common(flow, OVERLAP_TOKENS, 1),
        encoder=_encoder(flow.section("encoder")),
        estimator=_unet(flow.section("decoder").section("estimator")),
        regulator_convs=len(flow.section("length_regulator").integers("sampling_ratios")),
    )


def _unet(estimator: _Section) -> UNetConfig:
    return UNetConfig(
        inputs=estimator.integer("in_channels"),
        outputs=estimator.integer("out_channels"),
        channels=estimator.integers("channels")[0],
        heads=estimator.integer("num_heads"),
        head_width=estimator.integer("attention_head_dim"),
        transformers=estimator.integer("n_blocks"),
        mid_blocks=estimator.integer("num_mid_blocks"),
    )


def _flow2(top: _Section) -> Flow2Config:
    flow = top.section("flow")
    common = _common(flow, flow.integer("pre_lookahead_len"), top.integer("chunk_size"))
    encoder, estimator = flow.section("encoder"), flow.section("decoder").section("estimator")
    return Flow2Config(
        flow=common,
        encoder=ConformerConfig(
            width=encoder.integer("output_size"),
            heads=encoder.integer("attention_heads"),
            feed_forward=encoder.integer("linear_units"),
            blocks=encoder.integer("num_blocks"),
            ahead=common.ahead,
        ),
        estimator=_unet(estimator),
    )


def _flow3(top: _Section) -> Flow3Config:
    flow = top.section("flow")
    estimator = flow.section("decoder").section("estimator")
    width = estimator.integer("dim")
    return Flow3Config(
        flow=_common(flow, flow.integer("pre_lookahead_len"), top.integer("chunk_size")),
        lookahead=flow.section("pre_lookahead_layer").integer("channels"),
        estimator=DiTConfig(
            width=width,
            depth=estimator.integer("depth"),
            heads=estimator.integer("heads"),
            head_width=estimator.integer("dim_head"),
            feed_forward=estimator.integer("ff_mult") * width,
            bins=estimator.integer("mel_dim"),
        ),
    )


def _hift(hift: _Section, version: int) -> HiftConfig:
    transform, pitch = hift.section("istft_params"), hift.section("f0_predictor")
    rates, hop = hift.integers("upsample_rates"), transform.integer("hop_len")
    return HiftConfig(
        source=SourceConfig(
            bins=pitch.integer("in_channels"),
            channels=pitch.integer("cond_channels"),
            harmonics=hift.integer("nb_harmonics") + 1,
            level=hift.number("nsf_alpha"),
            voiced_noise=hift.number("nsf_sigma"),
            voiced_above=hift.number("nsf_voiced_threshold"),
            sample_rate=SAMPLE_RATES[version],
            samples_per_frame=math.prod(rates) * hop,
            per_sample=version == 1,
        ),
        filter=FilterConfig(
            bins=hift.integer("in_channels"),
            channels=hift.integer("base_channels"),
            rates=rates,
            up_kernels=hift.integers("upsample_kernel_sizes"),
            kernels=hift.integers("resblock_kernel_sizes"),
            source_kernels=hift.integers("source_resblock_kernel_sizes"),
            fft=transform.integer("n_fft"),
            hop=hop,
            ahead=hift.integer("conv_pre_look_right") if version == 3 else FilterConfig().ahead,
        ),
        limit=hift.number("audio_limit"),
        overlap=_VOCODER_OVERLAP if version == 1 else OVERLAP_FRAMES,
    )
