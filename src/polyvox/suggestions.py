"""The nearest of the names that there are, for a refusal of one that there is not."""

import difflib
from collections.abc import Iterable


def nearest(wanted: str, known: Iterable[str]) -> str | None:
    """The known name that is most like a word, in whatever case; None where none is near."""
    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(wanted[:80].lower(), list(names), n=1)
    return names[close[0]] if close else None


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """The question to put into a refusal, with a space behind it; empty where no name is near."""
    found = nearest(wanted, known)
    return "" if found is None else f"did you mean {found!r}? "
