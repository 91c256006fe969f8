"""Voices that are styles of a model: fitted to a recording, kept mixes, and imported voice packs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyvox.errors import InvalidRequestError
from polyvox.voices.fitted import KEY as FITTED_KEY
from polyvox.voices.fitted import STYLE_SIZE, fitted_style

MIX_KEY, PACK_KEY = "mix", "pack"
"""Keys of a kept mix and of an imported pack in a record's report."""


@dataclass(frozen=True, slots=True)
class VoiceStyle:
    """A mix of a model's voices, which may be empty, and an offset from it: one row for all, or a whole pack."""

    model: str
    base: str
    offset: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PackReference:
    """The file of an imported voice pack, and the model that it is for."""

    model: str
    file: str
    digest: str


def mix_report(model: str, base: str) -> dict[str, Any]:
    """The part of a record's report that makes it a kept mix."""
    return {MIX_KEY: {"model": model, "base": base}}


def pack_report(pack: PackReference) -> dict[str, Any]:
    """The part of a record's report that makes it an imported pack."""
    return {PACK_KEY: {"model": pack.model, "file": pack.file, "digest": pack.digest}}


def style_model(report: Mapping[str, Any]) -> str | None:
    """The model whose style a voice is; None for a voice that is only a recording."""
    kept = next((found for key in (FITTED_KEY, MIX_KEY, PACK_KEY) if (found := report.get(key)) is not None), None)
    model = kept.get("model") if isinstance(kept, Mapping) else None
    return model if isinstance(model, str) else None


def plain_style(report: Mapping[str, Any]) -> VoiceStyle | None:
    """The style that a report itself holds; None where it holds none, or names a pack."""
    if (fitted := fitted_style(report)) is not None:
        return VoiceStyle(fitted.model, fitted.base, fitted.offset)
    mix = report.get(MIX_KEY)
    if mix is None:
        return None
    try:
        return VoiceStyle(str(mix["model"]), str(mix["base"]), np.zeros(STYLE_SIZE, np.float32))
    except (KeyError, TypeError) as error:
        raise InvalidRequestError("The kept mix is damaged; keep it again.", field="voice") from error


def pack_reference(report: Mapping[str, Any]) -> PackReference | None:
    """The pack that a report names, if any."""
    pack = report.get(PACK_KEY)
    if pack is None:
        return None
    try:
        return PackReference(str(pack["model"]), str(pack["file"]), str(pack["digest"]))
    except (KeyError, TypeError) as error:
        raise InvalidRequestError("The voice pack's record is damaged; import it again.", field="voice") from error
