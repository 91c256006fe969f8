"""The plan of a session, fixed before it starts."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace

from polyvox.engines.base import Engine
from polyvox.provenance.marks import Marks
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.cache.speech_cache import CachedSpeech, CacheUse, SpeechCache, SpeechKey
from polyvox.service.call_context import CallContext
from polyvox.service.delivery import Delivery, closing
from polyvox.service.kinds.request_kind import RequestKind, SpeakSilence
from polyvox.service.kinds.stream_in import SpeakStream
from polyvox.service.request_checks import check_with
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.text.warnings import Warnings
from polyvox.types import AudioChunk, Utterance


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """The speech of one request, checked and not yet made: by which engine, in which voice, delivered how.

    `voice` is None for one of the engine's own. Without a `key` the speech is not cached; `cached` is what the cache
    holds under it. At most `buffer` chunks wait for a reader, who may take none for `stall` seconds; all of it takes at
    most `deadline` seconds. With `bare_wav` the marks are not written into WAV files.
    """

    id: str
    door: str
    call: CallContext
    model: str
    engine: Engine
    utterance: Utterance
    kind: RequestKind
    voice: ResolvedVoice | None
    delivery: Delivery
    warnings: Warnings
    key: SpeechKey | None
    cached: CachedSpeech | None
    marks: Marks | None
    bare_wav: bool
    buffer: int
    deadline: float
    stall: float

    @property
    def from_cache(self) -> bool:
        """True if no model is asked."""
        return self.cached is not None

    @property
    def needs_slot(self) -> bool:
        """True if the model has to work for it."""
        return not (self.from_cache or isinstance(self.kind, SpeakSilence))

    @property
    def paced(self) -> bool:
        """True if the time between its chunks is the engine's alone."""
        return not isinstance(self.kind, SpeakStream) or self.kind.tells_pace(self.engine)

    @property
    def overhead(self) -> int:
        """Chunks that take longer than the engine's pace explains: the first, where a voice is prepared."""
        return 0 if self.voice is None else 1

    @property
    def cache_use(self) -> CacheUse | None:
        """Its entry in the cache; None for speech that is not cached."""
        return None if self.key is None else CacheUse(self.key, None if self.cached is None else self.cached.age)

    @property
    def log_fields(self) -> Mapping[str, object]:
        """The session in the log of chunks."""
        return {
            "session": self.id,
            "request": self.call.request_id,
            "door": self.door,
            "model": self.model,
            "engine": self.engine.name,
            "seed": self.utterance.seed,
            "sample_rate": self.delivery.sample_rate,
            "channels": self.delivery.channels,
        }

    def chunks(self, cache: SpeechCache, executor: DeviceExecutor) -> AsyncIterator[AudioChunk]:
        """The audio as it is delivered; what a model makes is recorded."""
        if self.cached is not None:
            return self.cached.chunks(executor)
        speech = self.kind.synthesize(self.engine, self.utterance) if self.voice is None else self._voiced(self.voice)
        made = self.delivery.process(speech, executor)
        return made if self.key is None else cache.record(self.key, made, self.warnings)

    async def _voiced(self, voice: ResolvedVoice) -> AsyncIterator[AudioChunk]:
        """Prepare the voice, then synthesize with it."""
        prepared = replace(self.utterance, prepared=await voice.prepare(self.engine))
        check_with(self.engine, prepared, self.kind, self.id)
        speech = self.kind.synthesize(self.engine, prepared)
        async with closing(speech):
            async for chunk in speech:
                yield chunk
