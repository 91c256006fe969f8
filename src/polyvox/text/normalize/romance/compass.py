"""Letters of the compass behind words that a direction follows: "vientos del NO", "au S.-E. de Nice"."""

import re
from collections.abc import Mapping


def directions(names: Mapping[str, str], before: str) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """The rules of a language in the form of `Abbreviations.in_context`.

    `names` are the letters with what they are called; `before` are the words, parted by spaces, that a direction
    follows.
    """
    words, joint = "|".join(before.split()), r"\.?-?"
    return tuple(
        (
            letters[-1],
            re.compile(rf"(?P<before>(?<!\w)(?:{words})[ ']){joint.join(letters)}\b(?:\.(?=[ ,;)]))?(?![\w/])"),
            rf"\g<before>{name}",
        )
        for letters, name in names.items()
    )
