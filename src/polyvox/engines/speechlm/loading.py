"""Loading of the networks, on a GPU that passes a trial, else on the CPU with a warning."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
import torch

from polyvox.config import Settings
from polyvox.engines.speechlm.bundle import (
    CodecVocabulary,
    check_codec_folder,
    check_lm_folder,
    load_codec,
    load_lm,
    read_vocabulary,
)
from polyvox.engines.speechlm.encoder import CodecEncoder, NetworkEncoder, OnnxEncoder
from polyvox.engines.speechlm.encoder_weights import EncoderWeights
from polyvox.engines.speechlm.settings import SpeechLmSettings
from polyvox.engines.speechlm.tuning import TOKENS_PER_SECOND
from polyvox.models.qwen.model import QwenState
from polyvox.models.speechlm.codec_lm import CodecLm
from polyvox.models.speechlm.neucodec import TOKENS, NeuCodec
from polyvox.runtime.placement import PRECISIONS, DeviceRequest, Placement, place_models

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_MIN_FIDELITY_DECIBELS = 35.0
_PROBE_TOKENS = 8
_ENCODER_GRAPH = "encoder.onnx"
_SEMANTIC = "w2v-bert"


@dataclass(frozen=True, slots=True)
class SpeechLmNetworks:
    """The codec, and the language model with its vocabulary unless a server runs it.

    Without an encoder, `encoder_fault` is what it lacks, as a clause.
    """

    codec: NeuCodec
    device: torch.device
    lm: CodecLm | None = None
    vocabulary: CodecVocabulary | None = None
    encoder: CodecEncoder | None = None
    encoder_fault: str = ""
    warning: str = ""


def load_networks(settings: Settings) -> SpeechLmNetworks:
    """Load what the settings name; BundleError says what is missing or does not fit."""
    section = settings.section(SpeechLmSettings)
    lm_folder = section.dir or settings.models_dir / "speechlm"
    codec_folder = section.neucodec_dir or settings.models_dir / "neucodec"
    check_codec_folder(codec_folder)
    local = not section.url
    if local:
        check_lm_folder(lm_folder)
    vocabulary = read_vocabulary(lm_folder) if local else None
    request = DeviceRequest(section.device, section.precision)
    load = partial(_load, codec_folder, lm_folder, vocabulary, section.codec_precision)
    (codec, lm), placement, warning = place_models("speechlm", request, load, request.cpu)
    device = torch.device(placement.device)
    encoder, fault = find_encoder(EncoderWeights(codec_folder, settings.models_dir / _SEMANTIC), device)
    return SpeechLmNetworks(codec, device, lm, vocabulary, encoder, fault, warning)


def find_encoder(weights: EncoderWeights, device: torch.device) -> tuple[CodecEncoder | None, str]:
    """The encoder, or None and what it lacks: without it everything works but cloning from a recording."""
    if (weights.codec / _ENCODER_GRAPH).is_file():
        return OnnxEncoder(weights.codec / _ENCODER_GRAPH), ""
    if fault := weights.fault():
        log.warning("Voices cannot be cloned from recordings.", reason=fault)
        return None, fault
    return NetworkEncoder(partial(weights.load, device)), ""


def _load(
    codec_folder: Path, lm_folder: Path, vocabulary: CodecVocabulary | None, codec_precision: str, placement: Placement
) -> tuple[NeuCodec, CodecLm | None]:
    device = torch.device(placement.device)
    codec = codec_in(codec_precision, load_codec(codec_folder, device))
    lm = None if vocabulary is None else load_lm(lm_folder, vocabulary, device, placement.dtype)
    if device.type != "cpu":
        _try_out(codec, lm)
    return codec, lm


@torch.inference_mode()
def _try_out(codec: NeuCodec, lm: CodecLm | None) -> None:
    """Run both networks on a few tokens; RuntimeError where the result is not finite."""
    tokens = torch.arange(_PROBE_TOKENS, device=codec.head.weight.device)[None]
    outputs = [codec(tokens)]
    if lm is not None:
        hidden, _ = lm.backbone(lm.embed_tokens(tokens), QwenState())
        outputs.append(lm.logits(hidden))
    if not all(torch.isfinite(output).all().item() for output in outputs):
        raise RuntimeError("it computes non-finite values")


def codec_in(precision: str, codec: NeuCodec) -> NeuCodec:
    """The codec in a precision by name; where rounding would be audible, as it is, with a warning in the log."""
    on_gpu = codec.head.weight.device.type == "cuda"
    dtype = PRECISIONS[("float16" if on_gpu else "float32") if precision == "auto" else precision]
    if dtype == torch.float32:
        return codec
    rounded = codec.in_precision(dtype)
    decibels = codec_fidelity(codec, rounded)
    if decibels >= _MIN_FIDELITY_DECIBELS:
        return rounded
    log.warning("The codec is exact in single precision only, and slower.", precision=str(dtype), decibels=decibels)
    return codec


@torch.inference_mode()
def codec_fidelity(codec: NeuCodec, rounded: NeuCodec) -> float:
    """Signal-to-noise ratio of `rounded` on a second of arbitrary tokens, in decibels; NaN where it breaks down."""
    tokens = (torch.arange(TOKENS_PER_SECOND, device=codec.head.weight.device) * 40_503 % TOKENS)[None]
    exact, other = codec(tokens).float(), rounded(tokens).float()
    return float(10 * (exact.square().mean() / (other - exact).square().mean()).log10())
