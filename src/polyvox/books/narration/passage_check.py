"""The check of a passage: what a recogniser heard of its speech, and whether it was spoken again for that."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassageCheck:
    """Of the `words` of a passage, `wrong` were heard otherwise in the take that is kept, `first_wrong` in the first.

    `takes` is how often it was spoken, `kept` the take that is kept, from 1, and `heard` its transcript. A passage that
    has not `passed` still has too many wrong words. `unheard` says why nobody listened to it; else it is empty.
    """

    words: int = 0
    wrong: int = 0
    first_wrong: int = 0
    takes: int = 1
    kept: int = 1
    heard: str = ""
    passed: bool = True
    unheard: str = ""

    @property
    def notable(self) -> bool:
        """True for a passage that was spoken again, that still is not right, or that nobody listened to."""
        return self.takes > 1 or not self.passed or bool(self.unheard)


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """Numbers of passages: those listened to, those spoken again, those still not right, and those not listened to."""

    checked: int = 0
    respoken: int = 0
    remaining: int = 0
    unchecked: int = 0

    def adding(self, check: PassageCheck) -> "CheckCounts":
        """The counts with one passage more."""
        return CheckCounts(
            self.checked + (not check.unheard),
            self.respoken + (check.takes > 1),
            self.remaining + (not check.passed),
            self.unchecked + bool(check.unheard),
        )


NO_CHECKS = CheckCounts()
