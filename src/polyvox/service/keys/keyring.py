"""The keys that a server accepts: those of its settings, and those of its file, followed as they change."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import structlog

from polyvox.errors import AuthenticationError, PolyvoxError
from polyvox.service.keys.record import KeyRecord, digest_of, owner_of, setting_key_name
from polyvox.service.keys.store import KeyStore

FOLLOW_SECONDS = 1.0
"""Interval at which the file is looked at: a key that was created, changed or revoked is so about this much later."""

_LOST = "The file has no keys any more, or is gone; put it back, or make keys with 'polyvox keys create'."

BEARER_ADVICE = "as 'Authorization: Bearer KEY'"

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class Keyring:
    """Keys by their digests, in memory. A look-up costs the same for one key and for ten thousand.

    A file with keys is the rule, as a whole: what it does not list is refused. A file without keys, or one that cannot
    be read, is a `problem` and no rule: the keys read before are accepted and no others. A server that has ever known a
    key asks for one for good.
    """

    def __init__(self, setting: Sequence[str], store: KeyStore) -> None:
        self._store = store
        self._setting = {
            digest_of(key.encode()): KeyRecord(setting_key_name(place), owner_of(key))
            for place, key in enumerate(setting, 1)
            if key
        }
        self._asks_by_setting = bool(setting)
        self._asks_by_file = False
        self.problem = ""
        """The reason why the file cannot be followed; empty where it can."""
        self._records: Mapping[bytes, KeyRecord] = {}
        self._owners: Mapping[str, KeyRecord] = {record.owner: record for record in self._setting.values()}
        self._revision: int | None = None
        self._task: asyncio.Task[None] | None = None
        self.after_read: Callable[[], None] = lambda: None
        """Called on the event loop each time the file has been looked at while it is followed."""
        self.read()

    @property
    def asks(self) -> bool:
        """True if a key must be sent. It never becomes false again."""
        return self._asks_by_setting or self._asks_by_file

    def find(self, key: bytes, advice: str = BEARER_ADVICE) -> KeyRecord:
        """The record of a key; an `AuthenticationError` that says how to send one where it is none of these."""
        # By the digest: how long a look-up takes tells something of digests at most, of which no key can be made.
        digest = digest_of(key)
        record = self._setting.get(digest) or self._records.get(digest)
        if record is None or record.revoked is not None:
            raise AuthenticationError(f"This server asks for a key: send it {advice}.")
        return record

    def by_owner(self, owner: str) -> KeyRecord | None:
        """The key of an owner id, also a revoked one."""
        return self._owners.get(owner)

    def active(self) -> Sequence[KeyRecord]:
        """All keys that are accepted."""
        return [record for record in self._owners.values() if record.revoked is None]

    def read(self) -> None:
        """Read the file where it has changed."""
        self._asks_by_file = self._asks_by_file or self._store.required
        revision = self._store.revision()
        if revision not in (None, self._revision) and (records := self._store.records()):
            self._accept(records)
            self._revision = revision
        self._report(_LOST if self._asks_by_file and revision is None else "")

    def _accept(self, records: Mapping[bytes, KeyRecord]) -> None:
        gone = sorted(record.name for digest, record in self._records.items() if digest not in records)
        if gone:  # no command deletes a key, so this is another file
            log.error("the file of keys was replaced; keys that it does not list are refused", keys=gone)
        self._records = records
        stored = {record.owner: record for record in records.values()}
        self._owners = stored | {record.owner: record for record in self._setting.values()}
        try:
            self._store.require()
        except PolyvoxError as error:
            log.warning("nothing can be written beside the file of keys; do not lose it", problem=error.message)

    def _report(self, problem: str) -> None:
        if problem and problem != self.problem:
            log.error("keys cannot be read; those read before are accepted and no others", problem=problem)
        elif self.problem and not problem:
            log.info("keys can be read again")
        self.problem = problem

    def follow(self) -> None:
        """Read changes of the file from now on, until `close`."""
        if self._task is None:
            self._task = asyncio.create_task(self._follow(), name="follow keys")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(FOLLOW_SECONDS)
            try:
                await asyncio.to_thread(self.read)
            except PolyvoxError as error:
                self._report(error.message)
            else:
                self.after_read()
