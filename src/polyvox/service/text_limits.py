"""The limits of a request's text: its length, its pauses, and how long it takes to speak."""

from dataclasses import dataclass

from polyvox.config import Settings
from polyvox.errors import MarkupError, TextError
from polyvox.text.markup import markup
from polyvox.text.segmentation.spoken_length import spoken_seconds


@dataclass(frozen=True, slots=True)
class TextLimits:
    """Limits of one request; all of it is checked before any work."""

    max_chars: int
    max_pause_seconds: float
    max_spoken_seconds: float

    @classmethod
    def of(cls, settings: Settings) -> "TextLimits":
        return cls(settings.max_input_chars, settings.max_pause_seconds, settings.max_spoken_seconds)

    def check(self, text: str, speed: float, field: str = "input") -> float:
        """Raise where the text goes beyond a limit; else the seconds that it takes to speak, by estimate."""
        if len(text) > self.max_chars:
            raise TextError(
                f"The text has {len(text):,} characters; this server takes at most {self.max_chars:,}.", field=field
            )
        if not text.strip():
            raise TextError("The text is empty; send something to say.", field=field)
        pauses = self.check_pauses(markup.pause_seconds(text), field)
        return self.check_spoken(spoken_seconds(text, speed), field) + pauses

    def check_pauses(self, seconds: float, field: str) -> float:
        """Refuse pauses that are too long together."""
        if seconds > self.max_pause_seconds:
            raise MarkupError(
                f"The pauses last {seconds:g} s together; this server allows {self.max_pause_seconds:g} s in one "
                "request. Ask for shorter ones, or send the text in parts.",
                field=field,
            )
        return seconds

    def check_spoken(self, seconds: float, field: str) -> float:
        """Refuse what takes too long to speak."""
        if seconds > self.max_spoken_seconds:
            raise TextError(
                f"The text takes about {seconds / 60:,.0f} minutes to speak; this server allows "
                f"{self.max_spoken_seconds / 60:,.0f} in one request. Send it in parts.",
                field=field,
            )
        return seconds
