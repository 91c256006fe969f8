"""`GET /v1/usage`: what a key has used, by day."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import HTTPConnection

from polyvox.api.dependencies import Owner, Service
from polyvox.api.door import Door
from polyvox.service.keys.operations import Operation
from polyvox.service.keys.record import KeyRecord
from polyvox.service.keys.usage import Usage
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.key_names import ANONYMOUS

router = APIRouter(tags=["usage"])

_Days = Annotated[int, Query(ge=1, le=366, description="How many days, today's included.")]


@router.get("/v1/usage")
async def get_usage(connection: HTTPConnection, service: Service, owner: Owner, days: _Days = 30) -> dict[str, Any]:
    """Show what your key has used, by day in UTC, the limits it has, and what is left of them today.

    A key with the scope `admin` sees all keys; a server without keys shows what all callers have used together.
    """
    caller: KeyRecord | None = getattr(connection.state, "key", None)
    sees_all = service.accounts.access.allows(Operation.READ_ALL_USAGE, owner)
    ledger = service.accounts.ledger
    found = await ledger.since(days, None if sees_all or caller is None else caller.name)
    records = service.accounts.keyring.active() if sees_all else [caller] if caller is not None else []
    by_name: dict[str, dict[str, Usage]] = {record.name: {} for record in records}
    for (name, day), usage in found.items():
        by_name.setdefault(name, {})[day] = usage
    known = {record.name: record for record in records}
    return {
        "object": "list",
        "today": ledger.clock.today,
        "data": [_entry(name, known.get(name), by_name[name], service) for name in sorted(by_name)],
    }


def _entry(name: str, record: KeyRecord | None, days: Mapping[str, Usage], service: SpeechService) -> dict[str, Any]:
    return {
        "key": name,
        "scopes": None if record is None else sorted(record.scopes),
        "limits": {} if record is None else {kind: most for kind, most in asdict(record.limits).items() if most},
        "remaining": {} if record is None else _remaining(record, service.accounts.ledger.today(name)),
        "active": record is not None or name == ANONYMOUS,
        "days": [
            {
                "date": day,
                "requests": usage.requests,
                "characters": usage.characters,
                "audio_seconds": round(usage.audio_seconds, 3),
                "refused": usage.refused,
            }
            for day, usage in sorted(days.items())
        ],
    }


def _remaining(record: KeyRecord, today: Usage) -> dict[str, int]:
    limits, left = record.limits, {}
    if limits.characters_a_day:
        left["characters"] = max(0, limits.characters_a_day - today.characters)
    if limits.audio_seconds_a_day:
        left["audio_seconds"] = max(0, int(limits.audio_seconds_a_day - today.audio_seconds))
    return left


DOOR = Door(
    "usage",
    router,
    tags={"usage": "What keys have used."},
    operations={
        "GET /v1/usage": Operation.READ_USAGE,
    },
)
