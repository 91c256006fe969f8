"""Amperes behind a figure, whose letter is another thing where nothing speaks of electricity."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

_AMPERES: Final = re.compile(r"(?P<figure>\d(?<![\w.,/:].)[\d,]*)(?: ?[-–] ?\d[\d,]*)? ?(?P<letter>A)(?![\w'’]|[.-]\w)")
_ELECTRIC: Final = re.compile(
    r"\d ?(?:k?V|[km]?W|kWh|mAh|Ah|kVA|Hz|mm²|mm2)(?!\w)|(?<!\w)(?:[Dd]i[sz]juntor"
    r"|[Dd]isyuntor|[Tt]érmica|[Ii]nterruptor"
    r"|[Ff]us[ií]ve?l|[Ff]usible|[Cc]orr[ei]ente?|[Tt]omada|[Ee]nchufe|[Tt]omacorriente|[Cc]argador|[Cc]arregador"
    r"|[Bb]ater[ií]a|[Dd]iferencial|[Mm]agnetotérmico|[Ii]ntensi[dt]ad[e]?|[Mm]otor|[Ff]onte|[Ff]uente|[Cc]ircuito"
    r"|[Aa]mper|[Cc]ontactor|[Rr]elé|[Cc]able|[Cc]abo|[Ff]io|[Cc]huveiro|[Pp]astilla|[Bb]reaker|USB|[Ll]lave)"
)


@dataclass(frozen=True, slots=True)
class Amperes:
    """The words of one language."""

    one: str
    many: str

    def read(self, text: TrackedText) -> TrackedText:
        if "A" not in text.text or _AMPERES.search(text.text) is None or _ELECTRIC.search(text.text) is None:
            return text
        return text.sub(_AMPERES, self._word)

    def _word(self, match: re.Match[str]) -> str:
        name = self.one if match["figure"] == "1" else self.many
        figures = match.group()[:-1].rstrip()
        return f"{figures} {name}"
