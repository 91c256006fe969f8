"""Halves that are said without their count: "½ price", "1/2 off", "½ the time"."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_HALF: Final = re.compile(
    r"(?<![\w./,$£€¼-¾-])(?<!\d )(?<!\b[oO]n )(?<!\b[bB]y )(?<!\buntil )(?:½|1/2)"
    r"(?:[ -](?=(?:board|days?|fare|marathons?|off|price[ds]?|pricing|term|time|tuition)\b)"
    r"| (?=(?:an?|the|that|my|your|our|his|her|their|its) [a-z]))"
)


def read(text: TrackedText) -> TrackedText:
    """A half before what is halved by name; before a measure it keeps its count."""
    if "½" not in text.text and "1/2" not in text.text:
        return text
    return text.sub(_HALF, "half ")
