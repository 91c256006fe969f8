"""Kokoro as the server knows it before it is loaded."""

from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.voices import LANGUAGES
from polyvox.engines.spec import EngineSpec, VoiceFitting


def _make(settings: Settings) -> Engine:
    from polyvox.engines.kokoro.engine import KokoroEngine

    return KokoroEngine(settings)


def _uses_gpu(settings: Settings) -> bool:
    """ONNX Runtime runs it on the CPU; PyTorch is imported for it only where that is asked for."""
    return settings.section(KokoroSettings).executor == "native"


KOKORO = EngineSpec(
    family="kokoro",
    title="Kokoro",
    models={"kokoro": _make},
    languages={"kokoro": frozenset(LANGUAGES.values())},
    settings=KokoroSettings,
    uses_gpu=_uses_gpu,
    threads_field="threads",
    device_field="device",
    fitting=VoiceFitting("kokoro", worker="polyvox.engines.kokoro.fit_child", bundles=("kokoro", "campplus")),
)
