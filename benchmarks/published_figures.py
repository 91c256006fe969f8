"""Figures that others have published for the same kinds of models; cards and texts differ from ours."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One published measurement; None where the source gives no such figure. `derived`: from the source's own ones."""

    engines: tuple[str, ...]
    system: str
    card: str
    at_once: int | None
    first_audio_ms: float | None
    audio_per_second: float | None
    source: str
    note: str = ""
    derived: bool = False

    def __str__(self) -> str:
        times = "" if self.first_audio_ms is None else f"{self.first_audio_ms:.0f} ms"
        speed = "" if self.audio_per_second is None else f"{self.audio_per_second:g}{'*' if self.derived else ''}"
        note = f" ({self.note})" if self.note else ""
        return f"{self.at_once or '':>7}  {times:>11}  {speed:>9}  {self.system}, {self.card}{note}: {self.source}"


_COSYVOICE3 = ("cosyvoice3",)
_COSYVOICE2 = ("cosyvoice2",)
_ZIPVOICE = ("zipvoice",)
_CODEC_LM = ("speechlm",)

_QWEN3TTS = ("qwen3tts-0.6b", "qwen3tts-1.7b")
_CHATTERBOX = ("chatterbox",)

PUBLISHED = (
    PublishedFigure(
        _CHATTERBOX, "chatterbox-vllm", "RTX 3090", None, None, 27.6, "chatterbox-vllm README", derived=True
    ),
    PublishedFigure(_CHATTERBOX, "chatterbox-streaming", "RTX 4090", 1, 500.0, None, "chatterbox-streaming README"),
    PublishedFigure(
        _COSYVOICE3,
        "sglang-omni",
        "H100",
        16,
        1830.0,
        42.0,
        "docs/benchmarks/h100_ci_calibration_20260923.csv, #2171",
        note="first audio is a mean of nine days earlier",
        derived=True,
    ),
    PublishedFigure(
        _COSYVOICE3, "vllm-omni", "RTX 4090", 1, 462.0, None, "vllm-omni benchmarks/tts/cosyvoice3_async_output"
    ),
    PublishedFigure(
        _COSYVOICE3, "vllm-omni", "RTX 4090", 4, 1475.0, 7.1, "vllm-omni benchmarks/tts/cosyvoice3_async_output"
    ),
    PublishedFigure(_COSYVOICE3, "vllm-omni, TensorRT", "H100", 1, 209.0, 8.08, "vllm-omni #4168"),
    PublishedFigure(_COSYVOICE3, "vllm-omni, TensorRT", "H100", 4, 551.0, 12.11, "vllm-omni #4168"),
    PublishedFigure(_COSYVOICE3, "Triton", "L20", 4, 750.42, None, "CosyVoice README.Cosyvoice3"),
    PublishedFigure(_COSYVOICE2, "Triton", "L20", 1, 220.43, None, "CosyVoice README.Cosyvoice2.Unet"),
    PublishedFigure(_COSYVOICE2, "Triton", "L20", 4, 1107.34, None, "CosyVoice README.Cosyvoice2.Unet"),
    PublishedFigure(
        _ZIPVOICE,
        "Triton, TensorRT",
        "L20",
        1,
        88.0,
        64.0,
        "ZipVoice #145, #148",
        note="distilled, 4 steps; the time of a whole utterance",
        derived=True,
    ),
    PublishedFigure(
        _ZIPVOICE,
        "Triton, TensorRT",
        "L20",
        8,
        None,
        139.0,
        "ZipVoice #145, #148",
        note="distilled, 4 steps",
        derived=True,
    ),
    PublishedFigure(
        ("kokoro",), "mstar, CUDA graphs", "H100", None, None, 698.0, "mstar #278", note="batched, offline"
    ),
    PublishedFigure(_CODEC_LM, "Streamable TTS API", "H200", 1, None, 8.4, "its README"),
    PublishedFigure(_CODEC_LM, "Streamable TTS API", "H200", 4, None, 29.2, "its README"),
    PublishedFigure(_CODEC_LM, "Streamable TTS API", "H200", 16, None, 81.9, "its README"),
    PublishedFigure(_CODEC_LM, "Streamable TTS API", "H200", 50, None, 143.8, "its README"),
    PublishedFigure(
        (*_CODEC_LM, *_QWEN3TTS),
        "Qwen3-TTS, sglang-omni",
        "H100",
        None,
        33.0,
        None,
        "sglang-omni docs/benchmarks",
        note="20 requests a second: p95 47.5 ms, continuity 100 %",
    ),
    *(
        PublishedFigure(_CODEC_LM, "VoxCPM2, nanovllm", "RTX 4090", at_once, first, None, "VoxCPM #374")
        for at_once, first in ((1, 67.0), (16, 86.0), (32, 114.0), (64, 189.0))
    ),
)


def published_for(engine: str) -> tuple[PublishedFigure, ...]:
    """The figures to set beside an engine's own."""
    return tuple(figure for figure in PUBLISHED if engine in figure.engines)
