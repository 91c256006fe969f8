"""Voice mix expressions: `af_heart(2)+bf_emma(1)`."""

import re
from dataclasses import dataclass

from polyvox.errors import UnknownVoiceError

MAX_TERMS = 16
MAX_MIX_CHARS = 1_000
MAX_WEIGHT = 100.0
_TERM = re.compile(r"([+,-]?)\s*([A-Za-z0-9][A-Za-z0-9_]{0,63})\s*(?:\(\s*(\d{1,4}(?:\.\d{1,6})?|\.\d{1,6})\s*\))?\s*")

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True, slots=True)
class MixTerm:
    """One voice of a mix and its share, which is negative where the voice is subtracted.

    The sizes of all shares sum to 1, as in Kokoro-FastAPI: `a(2)-b` is two thirds of one less a third of the other.
    """

    voice: str
    share: float


def parse_mix(expression: str) -> tuple[MixTerm, ...]:
    """Read a voice name or a mix. `+` and `,` add, `-` subtracts, a weight in brackets defaults to 1."""
    terms: list[tuple[str, float]] = []
    position = 0
    text = expression.strip()
    if _UUID.fullmatch(text):  # an id of another server's, which is no subtraction
        raise UnknownVoiceError(f"There is no voice {text!r}; GET /v1/audio/voices lists them all.", field="voice")
    while position < len(text):
        match = _TERM.match(text, position)
        if match is None or (match[1] == "") != (position == 0):
            raise _malformed(expression)
        weight = float(match[3]) if match[3] else 1.0
        if not 0 < weight <= MAX_WEIGHT:
            raise UnknownVoiceError(f"A voice weight must be above 0 and at most {MAX_WEIGHT:g}.", field="voice")
        terms.append((match[2], -weight if match[1] == "-" else weight))
        position = match.end()
    if not terms or len(terms) > MAX_TERMS:
        raise _malformed(expression)
    total = sum(abs(weight) for _, weight in terms)
    return tuple(MixTerm(name, weight / total) for name, weight in terms)


def _malformed(expression: str) -> UnknownVoiceError:
    shown = expression if len(expression) <= 80 else expression[:77] + "..."
    return UnknownVoiceError(
        f"{shown!r} is not a voice or a mix such as 'af_heart(2)+bf_emma(1)' of at most {MAX_TERMS} voices.",
        field="voice",
    )
