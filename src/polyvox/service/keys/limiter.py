"""Limits of keys and addresses: the one place where a request for speech is held against them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from polyvox.config import Settings
from polyvox.errors import AuthenticationError, QuotaError, RateLimitError, RefusalReason
from polyvox.service.keys.access import ended_key
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.keys.client_names import address_in, owner_in
from polyvox.service.keys.counters import Counters, Level, Reservation, Resource
from polyvox.service.keys.keyring import Keyring
from polyvox.service.keys.ledger import UsageLedger
from polyvox.service.keys.record import KeyRecord, Limits, Scope
from polyvox.service.telemetry.key_names import ANONYMOUS

_SENTENCES = {
    Resource.REQUESTS: "{whose} may send {limit:,} requests a minute; try again in {wait:,} s.",
    Resource.STREAMS: "{whose} may have {limit:,} streams at once; wait until one ends.",
    Resource.CHARACTERS: "{whose} may have {limit:,} characters a day spoken, of which {remaining:,} are left; "
    "send less text, or try again in {wait:,} s.",
    Resource.AUDIO_SECONDS: "{whose} may have {limit:,} seconds of audio a day, and has had them; try again in "
    "{wait:,} s.",
}


class UsageMetrics(Protocol):
    """The part of the metrics that usage is counted in."""

    def key_used(self, key: str, *, requests: int = 0, characters: int = 0, audio_seconds: float = 0.0) -> None: ...

    def key_refused(self, key: str, resource: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of an account: a key by its name, or an address."""

    name: str
    counter: str
    limits: Limits
    is_key: bool
    scopes: frozenset[Scope]

    @classmethod
    def of_key(cls, record: KeyRecord) -> "Holder":
        return cls(record.name, f"key:{record.owner}", record.limits, is_key=True, scopes=record.scopes)


class Limiter:
    """Holds requests against the limits of their key, or of their address where there is no key, and counts use.

    Callers on this machine and behind a trusted proxy that names nobody have no limits of their address: it is many
    people's.
    """

    def __init__(
        self, settings: Settings, keyring: Keyring, ledger: UsageLedger, counters: Counters, metrics: UsageMetrics
    ) -> None:
        self._keyring = keyring
        self._ledger = ledger
        self._counters = counters
        self._metrics = metrics
        self._addresses = ClientAddresses(settings.trusted_proxies)
        self._address_limits = Limits(
            settings.max_requests_a_minute_per_address,
            settings.max_streams_per_address,
            settings.max_characters_a_day_per_address,
            settings.max_audio_seconds_a_day_per_address,
        )

    def holder(self, client: str) -> Holder | None:
        """The holder that a client's use is counted for; None for the server's own.

        `AuthenticationError` for a key that was revoked, or that the server does not know any more.
        """
        if not client:
            return None
        owner = owner_in(client)
        record = None if owner is None else self._keyring.by_owner(owner)
        if owner and self._keyring.asks and (record is None or record.revoked is not None):
            raise ended_key()
        if record is not None:
            return Holder.of_key(record)
        group = self._addresses.group(address_in(client).partition("/")[0]) if owner is None else None
        limits = Limits() if group is None else self._address_limits
        return Holder(ANONYMOUS, f"address:{group}", limits, is_key=False, scopes=frozenset(Scope))

    async def count_request(self, holder: Holder) -> Level | None:
        """Count a request before anything is done for it; `RateLimitError` where there were too many of late."""
        self._ledger.add(holder.name, requests=1)
        self._metrics.key_used(holder.name, requests=1)
        limit = holder.limits.requests_a_minute
        if not limit:
            return None
        level = await self._counters.request(holder.counter, limit)
        if level.refused:
            raise self._refusal(holder, level)
        return level

    async def reserve(
        self, holder: Holder | None, characters: int, *, stream: str, rate: Level | None = None
    ) -> "QuotaLease":
        """Characters and a place for a stream; a `RateLimitError` where a quota is used up or too many are open."""
        if holder is None:
            return QuotaLease(lambda *_: None, lambda _: None, 0, ())
        levels: tuple[Level, ...] = ()
        if holder.limits:
            levels = await self._counters.reserve(self._reservation(holder, characters, stream))
            refused = next((level for level in levels if level.refused), None)
            if refused is not None:
                raise self._refusal(holder, refused)
        self._ledger.add(holder.name, characters=characters)

        def spend(more_characters: int, audio_seconds: float) -> None:
            if holder.limits:
                self._counters.spend(holder.counter, self._ledger.clock.today, more_characters, audio_seconds)
            self._ledger.add(holder.name, characters=more_characters, audio_seconds=audio_seconds)
            self._metrics.key_used(holder.name, audio_seconds=audio_seconds)

        def end(spoken_characters: int) -> None:
            if holder.limits and stream:
                self._counters.release(holder.counter, stream)
            self._metrics.key_used(holder.name, characters=spoken_characters)

        return QuotaLease(spend, end, characters, levels if rate is None else (rate, *levels))

    def daily_limit(self, client: str, resource: str) -> int | None:
        """The amount of a resource that a client may have a day, 0 for any amount; None where its key was revoked."""
        try:
            holder = self.holder(client)
        except AuthenticationError:
            return None
        limits = Limits() if holder is None else holder.limits
        return limits.characters_a_day if resource == Resource.CHARACTERS else limits.audio_seconds_a_day

    def _reservation(self, holder: Holder, characters: int, stream: str) -> Reservation:
        clock = self._ledger.clock
        used = self._ledger.today(holder.name) if holder.is_key else None
        return Reservation(
            holder.counter,
            holder.limits,
            stream,
            characters,
            clock.today,
            clock.seconds_left,
            0 if used is None else used.characters,
            0.0 if used is None else used.audio_seconds,
        )

    def _refusal(self, holder: Holder, level: Level) -> RateLimitError:
        self._ledger.add(holder.name, refused=1)
        self._metrics.key_refused(holder.name, level.resource)
        daily = level.resource in (Resource.CHARACTERS, Resource.AUDIO_SECONDS)
        message = _SENTENCES[level.resource].format(
            whose="This key" if holder.is_key else "One address",
            limit=level.limit,
            remaining=level.remaining,
            wait=max(1, round(level.retry_after)),
        )
        return (QuotaError if daily else RateLimitError)(
            message,
            retry_after=level.retry_after,
            reason=RefusalReason.LIMIT,
            resource=level.resource,
            limit=level.limit,
            remaining=level.remaining,
            reset=level.reset,
        )


class QuotaLease:
    """The lease of a stream's quota. Of its characters nothing is charged unless some of its audio is sent."""

    def __init__(
        self,
        spend: Callable[[int, float], None],
        end: Callable[[int], None],
        characters: int,
        levels: Sequence[Level],
    ) -> None:
        self._spend = spend
        self._end = end
        self._characters = characters
        self._sent = False
        self._open = True
        self.levels = levels

    @property
    def tightest(self) -> Level | None:
        """The level of which the smallest share is left; None where there are no limits."""
        return min(self.levels, key=lambda level: level.remaining / level.limit, default=None)

    def sent(self, audio_seconds: float) -> None:
        """Charge for audio that the client has taken."""
        self._sent = True
        self._spend(0, audio_seconds)

    def close(self, characters: int | None = None) -> None:
        """Free the stream's place, and settle its characters: all of the text that came, or none; idempotent."""
        if not self._open:
            return
        self._open = False
        final = (self._characters if characters is None else characters) if self._sent else 0
        if final != self._characters:
            self._spend(final - self._characters, 0.0)
        self._end(final)
