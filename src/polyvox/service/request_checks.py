"""Checks and adaptations of a request, before anything is spoken."""

from dataclasses import replace

import structlog

from polyvox.engines.base import Engine
from polyvox.errors import EngineError, InvalidRequestError, PolyvoxError
from polyvox.service.delivery import Delivery
from polyvox.service.kinds.request_kind import RequestKind
from polyvox.service.kinds.script_reader import tag_rules
from polyvox.service.speech_request import SpeechRequest
from polyvox.text.markup.inline_tags import cleaned
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import Warnings
from polyvox.types import SPEED_RANGE, CodeBlocks, Utterance

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def check_numbers(request: SpeechRequest) -> None:
    """Refuse what lies outside of its range."""
    utterance = request.utterance
    if utterance.speed not in SPEED_RANGE:
        raise InvalidRequestError(
            f"speed must lie between {SPEED_RANGE.lowest:g} and {SPEED_RANGE.highest:g}, not {utterance.speed:g}.",
            field="speed",
        )
    if not 0.0 < request.volume <= 4.0:
        raise InvalidRequestError(f"volume must be above 0 and at most 4, not {request.volume:g}.", field="volume")
    if request.sample_rate is not None and not 8_000 <= request.sample_rate <= 48_000:
        raise InvalidRequestError(
            f"sample_rate must lie between 8000 and 48000 Hz, not {request.sample_rate}.", field="sample_rate"
        )
    if request.loudness is not None and not -50.0 <= request.loudness <= -5.0:
        raise InvalidRequestError(
            f"loudness must lie between -50 and -5 LUFS, not {request.loudness:g}.", field="loudness"
        )
    if request.deadline is not None and not request.deadline > 0:
        raise InvalidRequestError(f"deadline must be above 0 seconds, not {request.deadline:g}.", field="deadline")


def check_with(engine: Engine, utterance: Utterance, kind: RequestKind, session_id: str) -> None:
    """Run the engine's own check; an unexpected exception becomes an EngineError."""
    try:
        kind.check(engine, utterance)
    except PolyvoxError:
        raise
    except Exception as error:
        log.exception("engine failed", session=session_id, engine=engine.name)
        raise EngineError(
            f"The engine {engine.name!r} failed; the server's log has the cause under {session_id}."
        ) from error


def adapted(utterance: Utterance, engine: Engine, warnings: Warnings) -> Utterance:
    """The utterance without what the engine does not support, each with a warning."""
    if utterance.instructions and not engine.capabilities.instructions:
        warnings.add(f"The model {engine.name!r} cannot follow instructions; they were ignored.")
        utterance = replace(utterance, instructions=None)
    if utterance.instructions:
        words = cleaned(TrackedText.of(utterance.instructions), tag_rules(engine), warnings)
        utterance = replace(utterance, instructions=words.text)
    if not engine.capabilities.native_speed:
        utterance = replace(utterance, speed=1.0)
    return utterance


def delivery_of(request: SpeechRequest, engine: Engine) -> Delivery:
    """The delivery that makes of the engine's audio what the caller asked for."""
    can = engine.capabilities
    return Delivery(
        source_rate=can.sample_rate,
        sample_rate=request.sample_rate or can.sample_rate,
        channels=can.channels,
        tempo=1.0 if can.native_speed else request.utterance.speed,
        loudness=request.loudness,
        volume=request.volume,
    )


def with_code_blocks(utterance: Utterance, choice: CodeBlocks) -> Utterance:
    """The utterance with the server's choice where the caller made none."""
    options = utterance.normalization
    if options.code_blocks is not None:
        return utterance
    return replace(utterance, normalization=replace(options, code_blocks=choice))
