"""Door: everything the application knows about one dialect."""

from dataclasses import dataclass

from fastapi import APIRouter

from polyvox.config import ForeignVariables, SettingsSection


@dataclass(frozen=True, slots=True)
class Door:
    """One dialect over HTTP."""

    name: str
    router: APIRouter
    settings: type[SettingsSection] | None = None
    """Settings that the dialect brings."""
    foreign: ForeignVariables | None = None
    """Environment variables of the server whose dialect it is."""
