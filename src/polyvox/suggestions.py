"""The nearest of the names that there are, for a refusal of one that there is not."""

import difflib
from collections.abc import Iterable


def nearest(wanted: str, known: Iterable[str]) -> str | None:
    """The known name that is most like a word, in whatever case; None where none is near."""
    names = {name.lower(): str(name) for name in known}
    close = difflib.get_close_matches(wanted[:80].lower(), list(names), n=1)
    return names[close[0]] if close else None


def did_you_mean(wanted: str, known: Iterable[str], otherwise: str) -> str:
    """The end of a refusal: the nearest name where one is near, and in any case what else helps."""
    found = nearest(wanted, known)
    return otherwise if found is None else f"did you mean {found!r}? {otherwise[:1].upper()}{otherwise[1:]}"
