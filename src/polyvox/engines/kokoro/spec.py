"""Kokoro's `EngineSpec`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polyvox.config import Settings
from polyvox.engines.kokoro.presets import PRESETS
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.voices import LANGUAGE_TAGS, VOICES, available_voices
from polyvox.engines.spec import BrowserExport, EngineSpec, VoiceFitting
from polyvox.types import Voice

if TYPE_CHECKING:
    from polyvox.engines.base import Engine


def _make(settings: Settings) -> "Engine":
    from polyvox.engines.kokoro.engine import KokoroEngine

    return KokoroEngine(settings)


def _make_wren(settings: Settings) -> "Engine":
    from polyvox.engines.kokoro.engine import KokoroEngine

    own = settings.section(KokoroSettings).model_copy(update={"decoder": "wren"})
    return KokoroEngine(settings.with_section(own), "wren")


def _voices(_: str, settings: Settings) -> Sequence[Voice]:
    return available_voices(settings.espeak)


def _uses_gpu(settings: Settings) -> bool:
    """ONNX Runtime runs it on the CPU; only `native` asks for PyTorch in every process."""
    return settings.section(KokoroSettings).executor == "native"


def _write_for_browsers(model: Path, folder: Path, voices: Sequence[str]) -> None:
    from polyvox.engines.kokoro.wren.browser_bundle import write_bundle

    write_bundle(model, folder, [voice for voice in VOICES if voice.id in voices])


KOKORO = EngineSpec(
    family="kokoro",
    title="Kokoro",
    models={"kokoro": _make, "wren": _make_wren},
    languages={"kokoro": LANGUAGE_TAGS, "wren": LANGUAGE_TAGS},
    voices=_voices,
    settings=KokoroSettings,
    uses_gpu=_uses_gpu,
    threads_field="threads",
    device_field="device",
    precision_field="precision",
    fitting=VoiceFitting("kokoro", worker="polyvox.engines.kokoro.fitting.worker", bundles=("kokoro", "campplus")),
    presets=PRESETS,
    browser=BrowserExport(
        "kokoro",
        voices=tuple(voice.id for voice in VOICES if voice.language.startswith("en")),
        write=_write_for_browsers,
    ),
    bundles={"wren": "kokoro"},
)
