"""Migrations of the shared voice database: numbered SQL files, each applied once, never backwards."""

import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import structlog

from polyvox.errors import UnavailableError

if TYPE_CHECKING:
    from psycopg import Connection

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_LOCK = 0x706F6C79_766F7801
_FILE = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    version: int
    name: str
    sql: str


def shipped_migrations() -> tuple[Migration, ...]:
    """The steps that this release knows, in order."""
    found = []
    for file in (resources.files("polyvox.voices.storage") / "schema").iterdir():
        if match := _FILE.fullmatch(file.name):
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda step: step.version))


def migrate(db: "Connection[Any]", steps: tuple[Migration, ...]) -> None:
    """Bring the schema to the last step, in one transaction; doors that start together wait for one another.

    A schema of a later release is refused: what it means is not known here.
    """
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        db.execute(
            """CREATE TABLE IF NOT EXISTS polyvox_migrations (
                version INTEGER PRIMARY KEY, name TEXT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
            )"""
        )
        row = db.execute("SELECT coalesce(max(version), 0) AS version FROM polyvox_migrations").fetchone()
        version = 0 if row is None else row["version"]
        if version > steps[-1].version:
            raise UnavailableError("The voice database was written by a later version of Polyvox; update this one.")
        for step in steps:
            if step.version > version:
                db.execute(step.sql.encode())
                db.execute("INSERT INTO polyvox_migrations (version, name) VALUES (%s, %s)", (step.version, step.name))
                log.info("voice database migrated", version=step.version, name=step.name)
