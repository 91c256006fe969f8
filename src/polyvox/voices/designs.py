"""Voices that are kept as a description, for models that make a voice from one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from polyvox.types import PreparedVoice
from polyvox.voices.storage.recordings import digest_of

KEY = "design"
"""Key of a designed voice in a record's report."""


def design_report(description: str) -> dict[str, Any]:
    """The part of a record's report that makes it a designed voice."""
    return {KEY: {"description": description}}


def design_of(report: Mapping[str, Any]) -> str | None:
    """The description of a designed voice; None for every other voice."""
    design = report.get(KEY)
    description = design.get("description") if isinstance(design, Mapping) else None
    return description if isinstance(description, str) and description else None


def described_voice(engine: str, description: str) -> PreparedVoice:
    """A description as an engine with `capabilities.voice_design` takes it."""
    written = description.encode()
    return PreparedVoice(engine, digest_of(b"design " + written), {KEY: np.frombuffer(written, np.uint8)})


def description_of(voice: PreparedVoice) -> str:
    """The inverse of `described_voice`; empty for a voice that was prepared otherwise."""
    return bytes(voice.arrays[KEY]).decode() if KEY in voice.arrays else ""
