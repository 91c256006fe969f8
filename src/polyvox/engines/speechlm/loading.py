"""What the engine runs on: the networks, on a GPU that proves itself, else on the CPU with a warning."""

from dataclasses import dataclass

import structlog
import torch

from polyvox.config import Settings
from polyvox.engines.speechlm.bundle import (
    ENCODER,
    Vocabulary,
    check_codec_folder,
    check_lm_folder,
    load_codec,
    load_lm,
    read_vocabulary,
)
from polyvox.engines.speechlm.encoder import CodecEncoder
from polyvox.engines.speechlm.prompts import TOKENS_PER_SECOND
from polyvox.engines.speechlm.settings import SpeechLmSettings
from polyvox.models.speechlm.codec_lm import CodecLm
from polyvox.models.speechlm.neucodec import TOKENS, NeuCodec

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_CLEAR_DECIBELS = 35.0
_PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class Networks:
    """The codec, and the language model with its vocabulary unless a server runs it."""

    codec: NeuCodec
    device: torch.device
    lm: CodecLm | None = None
    vocabulary: Vocabulary | None = None
    encoder: CodecEncoder | None = None
    warning: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    device: torch.device
    dtype: torch.dtype


def load_networks(settings: Settings) -> Networks:
    """Load what the settings name; BundleError says what is missing or does not fit."""
    own = settings.section(SpeechLmSettings)
    lm_folder = own.dir or settings.models_dir / "speechlm"
    codec_folder = own.neucodec_dir or settings.models_dir / "neucodec"
    check_codec_folder(codec_folder)
    here = not own.url
    if here:
        check_lm_folder(lm_folder)
    vocabulary = read_vocabulary(lm_folder) if here else None
    encoder = CodecEncoder(codec_folder / ENCODER) if (codec_folder / ENCODER).is_file() else None
    place, warning = _placed(own)
    return Networks(
        codec=codec_in(own.codec_precision, load_codec(codec_folder, place.device)),
        device=place.device,
        lm=None if vocabulary is None else load_lm(lm_folder, vocabulary, place.device, place.dtype),
        vocabulary=vocabulary,
        encoder=encoder,
        warning=warning,
    )


def codec_in(precision: str, codec: NeuCodec) -> NeuCodec:
    """The codec in a precision by name, tried out: where rounding is heard, it stays as it is, with a warning."""
    on_gpu = codec.head.weight.device.type == "cuda"
    dtype = _PRECISIONS[("float16" if on_gpu else "float32") if precision == "auto" else precision]
    if dtype == torch.float32:
        return codec
    rounded = codec.rounded(dtype)
    decibels = codec_fidelity(codec, rounded)
    if decibels >= _CLEAR_DECIBELS:
        return rounded
    log.warning("The codec is exact in single precision only, and slower.", precision=str(dtype), decibels=decibels)
    return codec


@torch.inference_mode()
def codec_fidelity(codec: NeuCodec, rounded: NeuCodec) -> float:
    """How far a second of arbitrary tokens lies above what rounding changes in it, in decibels; NaN if it broke."""
    tokens = (torch.arange(TOKENS_PER_SECOND, device=codec.head.weight.device) * 40_503 % TOKENS)[None]
    exact, other = codec(tokens).float(), rounded(tokens).float()
    return float(10 * (exact.square().mean() / (other - exact).square().mean()).log10())


def _placed(own: SpeechLmSettings) -> tuple[_Place, str]:
    """The place that works, and what there is to say about it."""
    warning = ""
    if own.device != "cpu":
        if torch.cuda.is_available():
            precision = own.precision
            try:
                torch.zeros(8, 8, device="cuda") @ torch.zeros(8, 8, device="cuda")
                return _Place(torch.device("cuda"), _PRECISIONS["bfloat16" if precision == "auto" else precision]), ""
            except RuntimeError as error:
                reason = (str(error).splitlines() or [type(error).__name__])[0]
                warning = f"The GPU failed its test ({reason}), so speechlm runs on the CPU, far slower."
        elif own.device == "cuda":
            warning = "PyTorch finds no GPU, so speechlm runs on the CPU, far slower; check driver and PyTorch build."
    if warning:
        log.warning(warning)
    precision = own.precision
    return _Place(torch.device("cpu"), _PRECISIONS["float32" if precision == "auto" else precision]), warning
