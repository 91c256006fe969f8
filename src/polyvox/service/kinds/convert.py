"""The convert request kind: a recording in another voice."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

from polyvox.engines.base import Engine, SupportsConversion
from polyvox.errors import InvalidRequestError
from polyvox.service.delivery import closing
from polyvox.types import AudioChunk, Utterance, VoicePrompt

_MAX_STRETCH = 2.0
"""Factor by which a conversion can get longer than its source at speed 1."""


@dataclass(frozen=True, slots=True)
class ConvertRecording:
    """Convert a recording to the utterance's voice; `source` loads and checks it once the request is admitted."""

    source: Callable[[], Awaitable[VoicePrompt]]
    max_seconds: float
    speed: float = 1.0

    @property
    def chars(self) -> int:
        return 0

    @property
    def max_audio_seconds(self) -> float:
        return _MAX_STRETCH * self.max_seconds * max(1.0, 1.0 / self.speed)

    def check(self, engine: Engine, utterance: Utterance) -> None:
        _converting(engine)
        engine.check(utterance)

    async def synthesize(self, engine: Engine, utterance: Utterance) -> AsyncGenerator[AudioChunk]:
        speech = _converting(engine).convert(await self.source(), utterance)
        async with closing(speech):
            async for chunk in speech:
                yield chunk


def cannot_convert(model: str) -> InvalidRequestError:
    """The error for a model that only speaks text."""
    return InvalidRequestError(
        f"The model {model!r} cannot convert recordings; choose one whose capabilities in GET /v1/models say it can.",
        field="model",
    )


def _converting(engine: Engine) -> SupportsConversion:
    if not isinstance(engine, SupportsConversion):
        raise cannot_convert(engine.name)
    return engine
