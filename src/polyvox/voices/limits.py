"""Size and length limits of reference recordings."""

from collections.abc import AsyncIterable
from dataclasses import dataclass

from polyvox.config import Settings
from polyvox.errors import RequestTooLargeError

SAMPLE_RATE = 24_000

# More may be decoded than kept, since silence at the ends is trimmed afterwards.
_UNTRIMMED = 2.0
_SAMPLES_PER_SECOND = 2 * 48_000


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """The bounds for one recording, and the sample rate it is brought to."""

    max_bytes: int
    min_seconds: float
    max_seconds: float
    sample_rate: int = SAMPLE_RATE

    @classmethod
    def of(cls, settings: Settings, sample_rate: int = SAMPLE_RATE) -> "PromptLimits":
        """The limits of the settings; an engine narrows them with `dataclasses.replace`."""
        return cls(
            max_bytes=settings.prompt_max_bytes,
            min_seconds=settings.prompt_min_seconds,
            max_seconds=settings.prompt_max_seconds,
            sample_rate=sample_rate,
        )

    @property
    def decoded_seconds(self) -> float:
        """Longest recording that is decoded, silence at its ends included."""
        return self.max_seconds * _UNTRIMMED

    @property
    def bounds(self) -> str:
        """The lengths that are taken, as the end of a sentence."""
        return f"send one of {self.min_seconds:g} to {self.max_seconds:g} seconds"

    @property
    def decoded_samples(self) -> int:
        """Most samples that are decoded, all channels together: as many as in 48 kHz stereo of that length."""
        return int(self.decoded_seconds * _SAMPLES_PER_SECOND)


async def read_at_most(chunks: AsyncIterable[bytes], max_bytes: int) -> bytes:
    """All that arrives, given up as soon as it is too much."""
    data = bytearray()
    async for chunk in chunks:
        if len(data) + len(chunk) > max_bytes:
            raise too_large(max_bytes)
        data += chunk
    return bytes(data)


def too_large(max_bytes: int, field: str | None = None) -> RequestTooLargeError:
    """The refusal of a recording with more bytes than allowed."""
    return RequestTooLargeError(f"The recording is over {max_bytes} bytes; send a shorter or smaller one.", field=field)
