"""Figures with a colon that are no time: the ports of a computer, the scale of a map."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.normalize.romance.numbers import parts, whole_number
from polyvox.text.tracked import TrackedText

_COLON: Final = re.compile(r":(?<=\d:)\d")
_PORTS: Final = re.compile(
    r"(?P<first>\d(?<![\w.,:/-].)\d{1,4}):(?P<last>\d{4,5})(?![\w:/-]|[.,]\d)"
    r"|(?P<long>\d(?<![\w.,:/-].)\d{3,4}):(?P<short>\d{2,3})(?![\w:/-]|[.,]\d)"
)
_SCALE: Final = re.compile(
    r"1(?<![\w.,:/-].):(?P<large>(?:\d|\d{1,2}[05])[. ](?:000|500)(?:[. ]000)?|\d{4,8}|[6-9]\d|[1-9]\d\d)"
    r"(?![\w:/-]|[.,]\d)"
)
_NAMED_SCALE: Final = re.compile(
    r"((?:scala|échelle|escala|modellin\w|maquettes?|diluit\w|diluizione|dilu\w{1,4}|dilución|diluição|rapporto"
    r"|rapport|ratio|relación|relação|razão|proporzione|proportion|proporción|proporção)"
    r"(?: (?:di|de|del|a|à|al|em|en|in))? )1:(\d{1,3})(?![\w:/-]|[.,]\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Ratios:
    """The rules of one language."""

    language: RomanceLanguage

    def read(self, text: TrackedText) -> TrackedText:
        if _COLON.search(text.text) is None:
            return text
        text = text.sub(_SCALE, lambda match: self._scale(match["large"]))
        return text.sub(_NAMED_SCALE, lambda match: match[1] + self._scale(match[2])).sub(_PORTS, self._ports)

    def _scale(self, size: str) -> str:
        one, many = (whole_number(parts(figure)[0], self.language) for figure in ("1", size))
        return f"{one} {self.language.upto} {many}"

    def _ports(self, match: re.Match[str]) -> str:
        first, last = (
            whole_number(port, self.language)
            for port in (match["first"] or match["long"], match["last"] or match["short"])
        )
        return f"{first} {self.language.web[':']} {last}"
