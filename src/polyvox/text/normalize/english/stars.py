"""Stars in a row, by which films and hotels are rated: "★★★½"."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import cardinal
from polyvox.text.tracked import TrackedText

_ROW: Final = re.compile(r"(?P<full>(?:★️?|⭐️?|🌟){2,10})(?P<half>½|1/2)?(?P<empty>☆{0,9})")
_LONE: Final = re.compile(r"(?P<full>[★⭐])(?P<half>½|1/2)?(?P<empty>☆{1,9})")


def read(text: TrackedText) -> TrackedText:
    """The number of stars, and of how many where the rest are empty."""
    if not any(star in text.text for star in "★⭐🌟"):
        return text
    return text.sub(_ROW, _counted).sub(_LONE, _counted)


def _counted(match: re.Match[str]) -> str:
    full = sum(match["full"].count(star) for star in "★⭐🌟")
    count = cardinal(str(full)) + (" and a half" if match["half"] else "")
    all_of_them = full + len(match["empty"]) + bool(match["half"])
    rated = f"{count} out of {cardinal(str(all_of_them))}" if match["empty"] else count
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    lead = " " if before.isalnum() else ""
    return f"{lead}{rated} star{'' if full == 1 and not match['half'] and not match['empty'] else 's'}" + (
        "," if after == " " else " " if after.isalnum() else ""
    )
