"""The engines this server knows, by the names that callers use."""

from collections.abc import Callable
from importlib.util import find_spec
from types import MappingProxyType

from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.zipvoice.variants import VARIANTS, Variant
from polyvox.errors import UnavailableError


def _cosyvoice(version: int) -> Callable[[Settings], Engine]:
    def made(settings: Settings) -> Engine:
        if find_spec("torch") is None:
            raise UnavailableError("CosyVoice needs PyTorch; install it with `pip install 'polyvox[torch]'`.")
        from polyvox.engines.cosyvoice.engine import CosyVoiceEngine

        return CosyVoiceEngine(settings, version)

    return made


def _zipvoice(variant: Variant) -> Callable[[Settings], Engine]:
    def made(settings: Settings) -> Engine:
        if find_spec("torch") is None:
            raise UnavailableError("ZipVoice needs PyTorch; install it with `pip install 'polyvox[torch]'`.")
        from polyvox.engines.zipvoice.engine import ZipVoiceEngine

        return ZipVoiceEngine(variant, settings)

    return made


def _speechlm(settings: Settings) -> Engine:
    if find_spec("torch") is None:
        raise UnavailableError("The codec language model needs PyTorch: `pip install 'polyvox[torch]'`.")
    from polyvox.engines.speechlm.engine import SpeechLmEngine

    return SpeechLmEngine(settings)


ENGINES: MappingProxyType[str, Callable[[Settings], Engine]] = MappingProxyType(
    {
        "kokoro": KokoroEngine,
        "cosyvoice2": _cosyvoice(2),
        "cosyvoice3": _cosyvoice(3),
        "speechlm": _speechlm,
        **{name: _zipvoice(variant) for name, variant in VARIANTS.items()},
    }
)
