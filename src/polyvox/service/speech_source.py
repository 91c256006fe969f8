"""Where the audio of a session comes from: a model, in its own voice or one that is prepared first, or the cache."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from polyvox.engines.base import Engine
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.cache.speech_cache import CachedSpeech, CacheUse, SpeechCache, SpeechKey
from polyvox.service.delivery import Delivery
from polyvox.service.kinds.request_kind import RequestKind
from polyvox.service.request_checks import speak_with_voice
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.text.warnings import Warnings
from polyvox.types import AudioChunk, Utterance


@dataclass(frozen=True, slots=True)
class SpeechSource:
    """The speech of one request, checked and not yet made; without a `key` it is not cached."""

    session_id: str
    engine: Engine
    utterance: Utterance
    kind: RequestKind
    voice: ResolvedVoice | None
    delivery: Delivery
    warnings: Warnings
    key: SpeechKey | None
    cached: CachedSpeech | None

    @property
    def cache_use(self) -> CacheUse | None:
        return None if self.key is None else CacheUse(self.key, None if self.cached is None else self.cached.age)

    def chunks(self, cache: SpeechCache, executor: DeviceExecutor) -> AsyncIterator[AudioChunk]:
        """The audio as it is delivered; what a model makes is recorded."""
        if self.cached is not None:
            return self.cached.chunks(executor)
        if self.voice is None:
            speech = self.kind.synthesize(self.engine, self.utterance)
        else:
            speech = speak_with_voice(self.engine, self.utterance, self.kind, self.voice, self.session_id)
        made = self.delivery.process(speech, executor)
        return made if self.key is None else cache.record(self.key, made, self.warnings)
