"""Ordinals of Spanish in the plural: "1.os"."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_ORDINALS: Final = "_ primero segundo tercero cuarto quinto sexto séptimo octavo noveno".split()
_PLURAL: Final = re.compile(r"(?<![\w.,])([1-9])\.([oa]s)(?= )")


def in_words(text: TrackedText) -> TrackedText:
    if ".os " not in text.text and ".as " not in text.text:
        return text
    return text.sub(_PLURAL, lambda match: _ORDINALS[int(match[1])][:-1] + match[2])
