"""Degrees with the mark of an ordinal, in a text that speaks of the weather: "hasta 3º en Burgos"."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

_MARK: Final = re.compile(r"\dº")
_WEATHER: Final = re.compile(
    r"(?<!\w)(?:[Hh]elad|[Gg]ead|[Nn]ieve|[Nn]ev[ea]|[Ff]r[ií]o|[Cc]alor|[Mm][íi]nima|[Mm][áa]xima|[Mm]ín\.|[Mm]áx\."
    r"|[Tt]emperatura|[Tt]emp\.|[Tt]erm[óô]metro|[Gg]rados|[Gg]raus|[Hh]orn[oe]|[Ff]orno|[Aa]ss[ea]"
    r"|[Cc]lima|[Ff]ebre|[Ff]iebre|[Nn]ieblas?|[Vv]iento|[Vv]ento|[Nn]évoa|[Ll]luvia|[Cc]huva|[Tt]ibi[ao]"
    r"|[Mm]orna)"
)
_BOTH: Final = re.compile(r"(?<![\w.,/])([-−]?\d{1,2})[º°] ?/ ?([-−]?\d{1,2})[º°]")
# No ordinals go from one to the other without words: "35-38º".
_FROM_TO: Final = re.compile(r"(?<![\w.,/-])([1-9]\d)[º°]?[-–]([1-9]\d)º")
_DEGREES: Final = re.compile(
    r"(?<![\w.,])(?<!\b[oOaA] )(?<!\b[dn][oa] )(?<!\b[Ee]l )(?<!\b[Ll]a )(?<!\bdel )(\d{1,2})º"
    r"(?=[,.;:)!?/]|$| (?:em|no|na|en|a|e|y|de|por|durante|às|hoje|hoy|amanhã|mañana)(?!\w))"
)


_RANKED: Final = re.compile(
    r"(?:piso|planta|andar|puesto|lugar|posto|nivel|nível|art\.|artigo|§|fila|grado|curso|ano) ?\Z"
)
# Of so many nothing is ranked behind these words: "con 30º".
_WARM: Final = re.compile(
    r"(?<![\w.,])([-+−]?(?:1[3-9]|[2-4]\d))º(?=[,.;:)!?/]|$| (?:a la|al sol|à sombra|ao sol|em|en|no|na|e|y|hoy|hoje"
    r"|esta|por|mañana|amanhã|aqui|de (?:máx|mín|media|média))(?!\w))"
)
_WARM_WORD: Final = re.compile(
    r"(?<!\w)(?:[Mm]áx(?:ima)?s?\.?|[Mm]ín(?:ima)?s?\.?|[Tt]emp\.?|[Tt]emperaturas?|[Hh]ac[ei]a?n?|[Ff][ae]z(?:em)?|[Cc]alor"
    r"|[Ff]r[ií]o|unos|uns|los|os|aos|con|com|a|de|hasta|até) \Z"
)
_WARM_REACH: Final = 14
_REACH: Final = 10


@dataclass(frozen=True, slots=True)
class Weather:
    """The rule of both Iberian languages."""

    def read(self, text: TrackedText) -> TrackedText:
        if "º" not in text.text:
            return text
        text = text.sub(_WARM, _warm).sub(_FROM_TO, r"\1-\2°")
        if _MARK.search(text.text) is None or _WEATHER.search(text.text) is None:
            return text
        return text.sub(_DEGREES, _degrees).sub(_BOTH, r"\1°, \2°")


def _degrees(match: re.Match[str]) -> str | None:
    """None behind what is counted by ordinals."""
    ranked = _RANKED.search(match.string, max(0, match.start() - _REACH), match.start())
    return None if ranked else f"{match[1]}°"


def _warm(match: re.Match[str]) -> str | None:
    """None behind other words."""
    warm = _WARM_WORD.search(match.string, max(0, match.start() - _WARM_REACH), match.start())
    return f"{match[1]}°" if warm else None
