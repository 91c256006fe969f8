"""Specifications of cars, screens and films: tyres, codecs, rates of pictures, and the proportions of sides."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import cardinal, spelled
from polyvox.text.tracked import TrackedText

_SIGN: Final = re.compile(r"\dZ?R\d|\d R\d|H\.?26|@\d|\dX?-\d?X|[SML]-\d?X|IP[X\d]\d|\dW-\d|[46]/[46]|7-[Ee1]")
# Width, height and rim, and what the tyre bears: 225/55 R17 97W.
_TYRE: Final = re.compile(
    r"(?<![\d.])(?P<width>\d{3})/(?P<height>\d{2}) ?(?P<build>Z?R)(?P<rim>\d{2})"
    r"(?: (?P<load>\d{2,3})(?P<speed>[A-Z]))?(?![A-Za-z0-9])"
)
_CODEC: Final = re.compile(r"(?<![A-Za-z])H\.?(?P<number>26[1-6])(?!\d)")
# So many pictures or cycles a second behind a size: 4K@60fps.
_RATE: Final = re.compile(r"(?<=[\dKkPp]) ?@ ?(?=\d{2,3} ?(?:[Hh]z|fps|FPS|帧|赫))")
# What a case keeps out: IP68.
_PROTECTION: Final = re.compile(r"(?<![A-Za-z0-9])IP ?(?P<solids>[X\d])(?P<water>\dK?)(?![A-Za-z\d]|[.,]\d)")
# Oil by how thick it is cold and hot: 5W-30.
_OIL: Final = re.compile(r"(?<![A-Za-z0-9.])(?P<cold>\d{1,2})W-(?P<hot>[1-6]0)(?!\d)")
# Seats that fold in parts: 4/6.
_FOLDED: Final = re.compile("(?<![\\d./])([46])/([46])(?=分割|放倒|比例)")
_SHOP: Final = re.compile(
    "(?<![A-Za-z0-9])7-(?:ELEVE[nN]|Eleven|eleven|11(?=便利|门[店口]|买)|(?<=便利店7-)11|(?<=补给站7-)11)"
)
_SIZES: Final = re.compile(r"(?<![A-Za-z0-9-])(X{0,3}S|M|L)-(?=(?:\d?X{1,3}L|[ML])(?![A-Za-z0-9-]))")


def read_specifications(text: TrackedText) -> TrackedText:
    """Tyres, codecs, classes of protection, rates behind sizes, and sizes of clothes from the least to the greatest."""
    if _SIGN.search(text.text) is None:
        return text
    text = text.sub(_TYRE, _tyre).sub(_CODEC, lambda match: f"H{spelled(match['number'])}")
    text = text.sub(_PROTECTION, _protection).sub(
        _OIL, lambda match: f"{cardinal(match['cold'])}W{cardinal(match['hot'])}"
    )
    text = text.sub(_FOLDED, lambda match: spelled(match[1] + match[2])).sub(_SHOP, "Seven Eleven")
    return text.sub(_RATE, ", ").sub(_SIZES, r"\1到")


def _tyre(match: re.Match[str]) -> str:
    load = f", {spelled(match['load'])}{match['speed']}" if match["load"] else ""
    sides = f"{spelled(match['width'])}, {spelled(match['height'])}"
    return f"{sides} {' '.join(match['build'])}{cardinal(match['rim'])}{load}"


def _protection(match: re.Match[str]) -> str:
    classes = (match["solids"], *match["water"])
    return "IP" + "".join(spelled(char) if char.isdigit() else char for char in classes)
