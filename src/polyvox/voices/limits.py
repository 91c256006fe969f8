"""Size and length limits of recordings: references of voices, and those to be transcribed."""

from collections.abc import AsyncIterable
from dataclasses import dataclass

from polyvox.config import Settings
from polyvox.errors import RequestTooLargeError

SAMPLE_RATE = 24_000
LISTENING_RATE = 16_000

# More may be decoded than kept, since silence at the ends is trimmed afterwards.
_UNTRIMMED = 2.0
_SAMPLES_PER_SECOND = 2 * 48_000
_PROMPT_CPU_SECONDS = 3
_LISTENING_CPU_SECONDS = 30


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """The bounds for one recording, and the sample rate it is brought to.

    `untrimmed` times `max_seconds` are decoded, silence at the ends included. With `mono_rate` the decoder itself makes
    the recording mono at that rate, so that a long one never lies in memory as it was recorded.
    """

    max_bytes: int
    min_seconds: float
    max_seconds: float
    sample_rate: int = SAMPLE_RATE
    untrimmed: float = _UNTRIMMED
    mono_rate: int = 0
    cpu_seconds: int = _PROMPT_CPU_SECONDS

    @classmethod
    def of(cls, settings: Settings, sample_rate: int = SAMPLE_RATE) -> "PromptLimits":
        """The limits of the settings; an engine narrows them with `dataclasses.replace`."""
        return cls(
            max_bytes=settings.prompt_max_bytes,
            min_seconds=settings.prompt_min_seconds,
            max_seconds=settings.prompt_max_seconds,
            sample_rate=sample_rate,
        )

    @classmethod
    def for_listening(cls, settings: Settings) -> "PromptLimits":
        """The limits of recordings that are transcribed."""
        return cls(
            max_bytes=settings.listen_max_bytes,
            min_seconds=0.0,
            max_seconds=settings.listen_max_seconds,
            sample_rate=LISTENING_RATE,
            untrimmed=1.0,
            mono_rate=LISTENING_RATE,
            cpu_seconds=_LISTENING_CPU_SECONDS,
        )

    @property
    def decoded_seconds(self) -> float:
        """Longest recording that is decoded, silence at its ends included."""
        return self.max_seconds * self.untrimmed

    @property
    def bounds(self) -> str:
        """The lengths that are taken, as the end of a sentence."""
        if not self.min_seconds:
            return f"send at most {self.max_seconds:g} seconds"
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
