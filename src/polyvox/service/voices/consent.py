"""The rule of consent: what must be said of a recording before a voice is made of it. It holds for every door.

A caller states consent in a field where the dialect has one, and else in a header, or gRPC metadata, of the request.
The statement of the header is held for the time of the call, so that no door has to hand it on.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import structlog

from polyvox.config import Settings
from polyvox.errors import ForbiddenError, InvalidRequestError, UnavailableError
from polyvox.voices.consents import ConsentRecord
from polyvox.voices.designs import design_of
from polyvox.voices.names import note_text
from polyvox.voices.records import VoiceDetails, VoiceRecord
from polyvox.voices.styles import MIX_KEY

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

CONSENT_HEADER = "X-Voice-Consent"
"""States that the speaker of the request's recording has agreed; its text says how and when."""

_HOW = (
    f"with the field 'consent' where this API has it, else with the header {CONSENT_HEADER} (gRPC: metadata of this "
    "name; `polyvox say`: --consent), whose text says how and when"
)
_DENIALS = frozenset({"", "0", "false", "no"})


@dataclass(frozen=True, slots=True)
class _Caller:
    client: str = ""
    note: str | None = None


_NOBODY = _Caller()
_caller: ContextVar[_Caller] = ContextVar("consent", default=_NOBODY)


def calling(client: str, header: str | None) -> AbstractContextManager[None]:
    """Hold the statement of a call's header, and who made it; InvalidRequestError where the header cannot be kept."""
    denied = header is None or header.strip().lower() in _DENIALS
    return _held(_Caller(client, None if header is None or denied else note_text(header, CONSENT_HEADER)))


@contextmanager
def _held(caller: _Caller) -> Iterator[None]:
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def consent_record(settings: Settings) -> ConsentRecord:
    """The record of consents of this machine."""
    return ConsentRecord(settings.data_dir / "consents")


def is_of_somebody(report: Mapping[str, Any]) -> bool:
    """Return whether a voice with such a report is of a person: it is neither a mix of built-in voices nor designed."""
    return MIX_KEY not in report and design_of(report) is None


class ConsentRule:
    """The operator's setting `consent`: `trusted` asks for nothing, `asked` before a fit, `required` everywhere."""

    def __init__(self, settings: Settings) -> None:
        self._rule = settings.consent
        self.entries = consent_record(settings)

    def checked(self, details: VoiceDetails, *, always: bool = False) -> VoiceDetails:
        """Add the header's statement to the details of a new voice; refused where the rule wants one and there is none.

        `always`: unless the operator vouches for all recordings, this is refused without one.
        """
        note = _caller.get().note
        if details.consent is None and note is not None:
            details = replace(details, consent=True, consent_note=details.consent_note or note)
        if not details.consent and (self._rule == "required" or (always and self._rule == "asked")):
            raise InvalidRequestError(
                f"A voice is made only with its speaker's consent; say so {_HOW}.", field="consent"
            )
        return details

    def check_prompt(self) -> None:
        """Refuse a recording that comes with a request for speech, where the rule wants a statement."""
        if self._rule == "required" and _caller.get().note is None:
            raise InvalidRequestError(
                f"This server speaks in the voice of a recording only with its speaker's consent; say so {_HOW}.",
                field="consent",
            )

    def check_use(self, record: VoiceRecord) -> None:
        """Refuse a registered voice that was made of somebody's recording without a statement."""
        if self._rule == "required" and not record.consent and is_of_somebody(record.report):
            raise ForbiddenError(
                f"The voice {record.name!r} was registered without its speaker's consent, which this server requires; "
                "its owner states it with PATCH /v1/voices/ID and 'consent', or registers the voice again.",
                field="voice",
            )

    async def prompted(self, owner: str, recording: str) -> None:
        """Enter what was said of a recording that came with a request for speech; silence goes to the log alone."""
        note = _caller.get().note
        if note is None:
            log.info("recording without a statement of consent", recording=recording[:12])
        else:
            await self._enter(owner, recording, "", note)

    async def registered(self, record: VoiceRecord) -> None:
        """Enter a voice that was registered, or whose owner changed what is said of consent."""
        note = (record.consent_note or "stated") if record.consent else None
        await self._enter(record.owner, record.audio_digest, record.id, note)

    async def _enter(self, owner: str, recording: str, voice: str, note: str | None) -> None:
        add = partial(self.entries.add, owner, _caller.get().client, recording, voice, note)
        try:
            await asyncio.to_thread(add)
        except UnavailableError as error:
            if self._rule == "required":
                raise
            log.error("consent not entered", voice=voice or None, reason=error.message)
