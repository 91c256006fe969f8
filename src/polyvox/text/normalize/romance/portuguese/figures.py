"""Figures of Portuguese that are words by themselves: plural ordinals, days of the week, hours of one and two."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_ORDINALS: Final = "_ primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono".split()
_DAYS: Final = {"2": "segundas", "3": "terças", "4": "quartas", "5": "quintas", "6": "sextas"}
_HOURS: Final = {"1": "uma", "2": "duas", "21": "vinte e uma", "22": "vinte e duas"}
_PLURAL_DAY: Final = re.compile(r"(?<!\w)([2-6])(?:ªs|as)(?=[,.;)]|$| e \d| à| às| das| de manhã| que)")
_PLURAL: Final = re.compile(r"(?<![\w.,])([1-9])(?:\.?([ºª])|([ao]))s(?= |[,.;)]|$)")
_HOUR: Final = re.compile(
    r"(?:(?<=\b[àÀdDaA]s )(2?[12])(?= (?:da |e [a-z]|às|a |até|em ponto)|[,;!?)]|\.?$)"
    r"|(?<=\b[pP]elas )([12])(?= (?:e |da |em ponto)|[,;!?)]|\.?$)"
    r"|(?<=\b[sS]ão )([12])(?= (?:e meia|e pouco|da |em ponto)))"
)
_ANY_HOUR: Final = re.compile("(?:s|ão) (?=2?[12][^0-9:h])")


def in_words(text: TrackedText) -> TrackedText:
    plain = text.text
    lettered = "2as" in plain or "3as" in plain or "4as" in plain or "5as" in plain or "6as" in plain or "8as" in plain
    if lettered or "ºs" in plain or "ªs" in plain:
        text = text.sub(_PLURAL_DAY, lambda match: _DAYS[match[1]]).sub(_PLURAL, _plural)
    if _ANY_HOUR.search(plain) or plain.endswith((" 1", " 2", " 21", " 22")):
        text = text.sub(_HOUR, lambda match: _HOURS[match.group()])
    return text


def _plural(match: re.Match[str]) -> str:
    return _ORDINALS[int(match[1])][:-1] + ("os" if match[2] == "º" or match[3] == "o" else "as")
