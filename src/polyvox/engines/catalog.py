"""The engines this server knows, by the names that callers use."""

from collections.abc import Callable
from types import MappingProxyType

from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.engines.kokoro.engine import KokoroEngine

ENGINES: MappingProxyType[str, Callable[[Settings], Engine]] = MappingProxyType({"kokoro": KokoroEngine})
