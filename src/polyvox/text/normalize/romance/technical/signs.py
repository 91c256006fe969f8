"""Signs of code, chemistry and sums that are read before anything else: "C#", "nginx:1.25", "Na⁺", "3/8 + 5/12"."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

_ABOUT: Final = re.compile(r"[~∼](?<![\w/.~∼].) ?(?=[€$]?\d)")
_SHARP: Final = re.compile(r"(?<![\w#])([CF])#(?![\w#])")
_TAG: Final = re.compile(
    r"(?<![\w:/.-])((?:nginx|redis|postgres|mysql|mariadb|mongo|python|node|golang|openjdk|ubuntu|debian"
    r"|alpine|httpd|php"
    r"|ruby|rabbitmq|elasticsearch|grafana|prometheus|traefik|busybox"
    r"|[a-z][\w.-]*/[a-z][\w.-]*)):(?=\d+\.\d|\d|v\d|latest(?!\w))"
)
_BINARY: Final = re.compile(r"(?<=\d) ?([KMGT])i(?:B(?!\w)|(?![\w']))")
_BINARY_NAMES: Final = {"K": "kibi", "M": "mebi", "G": "gibi", "T": "tebi"}
_MILLICORES: Final = re.compile(r"(?<=\d)m(?= (?:de |d[eo]s? )?CPU)")
_ION: Final = re.compile(r"(?<=[A-Za-z\d₀-₉])(?P<count>[²³])?(?P<sign>[⁺⁻])(?![⁰¹²³⁴-⁹])")
_KELVIN: Final = re.compile(r"(?<=\d\d\d) K(?=[,.;:)]|$| (?:e|y|o|ou|a) )")
_AFTER_POWER: Final = re.compile(r"((?:\^\(?[-−]?[\da-z]{1,3}\)?|(?<!m)[²³⁰¹⁴-⁹])) ?[-–−] ?(?=[\d(]|[a-z](?!\w))")
_TERM: Final = r"(\d(?<![\w./].)\d?)/(\d{1,3})(?![\w/]|[.,]\d)"
_SUM: Final = re.compile(rf"{_TERM}(?= ?[+=×÷<>] ?\d)|(?<=[+=×÷<>] ){_TERM}")
_UNEQUAL: Final = re.compile(r" ?!==? ?")
_PAIR: Final = re.compile(r"(?<![\w/])([A-Z]{3})/([A-Z]{3})(?![\w/])")
# Doses and voltages of one thing: "875/125 mg", "127/220 V".
_BESIDE: Final = re.compile(
    r"(\d(?<![\w./,].)\d{1,3}(?:[.,]\d+)?)/(?=\d{1,4}(?:[.,]\d+)? ?(?:mg|mcg|µg|μg|V)(?![\w/]))"
)
# Units that something is for together: "J/(mol·K)".
_TOGETHER: Final = re.compile(r"(?<=[A-Za-z])/\(([A-Za-z]{1,3}[²³]?)[·.*×]([A-Za-z]{1,3}[²³]?)\)")
# Short names in small letters that are spelled as those in capitals.
_SPELLED: Final = re.compile(r"(?<![\w@.'-])(?:udp|url|cpu|gpu|usb|aws)(?![\w@'-]|\.\w)")
# Behind a count in a list of goods, whose noun follows: "2 x café moído, 1 x filtro".
_ORDERED: Final = re.compile(
    r" x(?<=\d x)(?:(?<=\A\d x)|(?<=\A\d\d x)|(?<=[\n(]\d x)|(?<=[;:,+•-] \d x)|(?<=[;:,+•-] \d\d x))(?= [^\W\d_]{3,})"
    r"(?! (?:semana|d[ií]a|mes|mês|hora|persona|pessoa|co[nm]|sem|sin|cada|por|año|noche|toma|ano|noite|dose|iguais"
    r"|fixas|par|sans|plus|moins|fois|per|alla|senza|ogni|più)(?!\w))"
)
# Of a cloud: "us-east-1".
_REGION: Final = re.compile(r"(?<![\w-])(us|eu|ap|sa|af|me|ca)-(?=(?:north|south)?(?:east|west|central)-\d)")
# The minus of a bill: "= 540 € + IVA - 15 %".
_LESS: Final = re.compile(r"(?<=[\w€%)]) [-–] (?=(?:R\$ ?)?\d[\d.,]* ?(?:[%€]|(?<=\$)))")
_BILL: Final = re.compile(r"=[^.;\n]{1,40} [-–] |\d[^.;\n]{0,24}\+[^.;\n]{1,24} [-–] ")
_FACTOR: Final = re.compile(r"(?<=\d)\*(?=[a-z(](?![a-z*]))")
_DIVIDED: Final = re.compile(r"(?<![\w/])([a-z]) //? (?=[\da-z](?![a-zà-ÿ]))")
_WHOLE_DIVIDED: Final = re.compile(r"(?<=[\w²³]\))/(?=\d{1,4}(?![\w/]))")
_REMAINDER: Final = re.compile(r"(?<![\w/])([a-z]) % (?=[\da-z](?![a-zà-ÿ]))")
# What a race took: "2:39:01", which no time of day is without a word before it.
_RACE: Final = re.compile(
    r"(?<![\w:.,/-])(?<!las )(?<!às )(?<!das )([1-9]):([0-5]\d):([0-5]\d)(?![\w:]|[.,]\d| ?(?:h|hs|hrs|am|pm)(?!\w))"
)
# Two guesses at a measure: "800/900 m".
_GUESSES: Final = re.compile(
    r"(\d(?<![\w./,-].)\d{1,3})/(\d{2,4})(?= ?(?:€|(?:k?m|cm|kg|g|ml|km/h|metros|euros|reais|kilos|quilos"
    r"|grados|graus)(?![\w/])))"
)
# The name of a user, without the sign before it.
_USER: Final = re.compile(
    r"(?<![\w@./\\:-])[a-z]\w*(?:\.\w+)*\.\w*_\w+(?![\w@/(.])|(?<![\w@./\\:-])[a-z]\w*_\w+\.[a-z]\w+(?![\w@/(.])"
)
# The index of a list: "n-1".
_INDEX: Final = re.compile(r"([ijknt](?<![\w'’./-].))[-−](?=\d(?![\w-]|[.,]\d))")
# What a text must hold for the rules of a mark to be worth a search.
_GLUED_COLON: Final = re.compile(r":(?:(?<=\d:)\d\d:\d|(?<=[a-z\d]:)(?:[\d:]|v\d|latest))")
_CAPITALS_APART: Final = re.compile("/(?<=[A-Z]/)[A-Z]")
_FIGURES_APART: Final = re.compile(r"/(?<=\d/)\d")
_DASH: Final = re.compile("[-–−]")
_POWER: Final = re.compile("[\\^²³⁰¹⁴-⁹]")
_SECTION: Final = re.compile(r"(?<=\.[a-z][a-z])::(?=\w)")


@dataclass(frozen=True, slots=True)
class Technical:
    """The words of one language."""

    about: str
    colon: str
    minus: str
    and_: str
    or_: str
    stop: str
    underscore: str
    plus: str
    unequal: str
    parts: Callable[[int, int], str | None]  # of a fraction in a sum, where its name is not common
    currencies: Mapping[str, str]

    def read(self, text: TrackedText) -> TrackedText:
        plain = text.text
        if "~" in plain or "∼" in plain:
            text = text.sub(_ABOUT, f"{self.about} ")
        if "#" in plain:
            text = text.sub(_SHARP, r"\1 sharp")
        if "_" in plain:
            text = text.sub(_USER, self._user)
        if " x " in plain:
            text = text.sub(_ORDERED, "")
        if "*" in plain:
            text = text.sub(_FACTOR, " × ")
        if _GLUED_COLON.search(plain):
            text = text.sub(_RACE, self._race).sub(_SECTION, " ").sub(_TAG, rf"\1 {self.colon} ")
        if "!=" in plain:
            text = text.sub(_UNEQUAL, f" {self.unequal} ")
        if "⁺" in plain or "⁻" in plain:
            text = text.sub(_ION, self._ion)
        if "/" in plain:
            text = self._slashed(text)
        return self._measured(text)

    def _slashed(self, text: TrackedText) -> TrackedText:
        plain = text.text
        if " /" in plain:
            text = text.sub(_DIVIDED, r"\1 ÷ ")
        if "/(" in plain:
            text = text.sub(_TOGETHER, r"/\1/\2")
        if ")/" in plain:
            text = text.sub(_WHOLE_DIVIDED, " ÷ ")
        if _CAPITALS_APART.search(plain):
            text = text.sub(_PAIR, self._pair)
        if _FIGURES_APART.search(plain):
            text = text.sub(_GUESSES, self._guesses).sub(_SUM, self._parts).sub(_BESIDE, r"\1, ")
        return text

    def _measured(self, text: TrackedText) -> TrackedText:
        plain = text.text
        if "Ki" in plain or "Mi" in plain or "Gi" in plain or "Ti" in plain:
            text = text.sub(_BINARY, lambda match: f" {_BINARY_NAMES[match[1]]}bytes")
        if "CPU" in text.text:
            text = text.sub(_MILLICORES, " milicores")
        if " K" in text.text:
            text = text.sub(_KELVIN, " kelvin")
        if " - " in text.text and _BILL.search(text.text):
            text = text.sub(_LESS, f" {self.minus} ")
        if "-" in plain and ("east-" in plain or "west-" in plain or "central-" in plain):
            text = text.sub(_REGION, lambda match: " ".join(match[1].upper()) + " ")
        if "url" in plain or "usb" in plain or "cpu" in plain or "gpu" in plain or "udp" in plain or "aws" in plain:
            text = text.sub(_SPELLED, lambda match: " ".join(match.group().upper()))
        if " % " in text.text:
            text = text.sub(_REMAINDER, r"\1 módulo ")
        if _DASH.search(text.text):
            text = text.sub(_INDEX, rf"\1 {self.minus} ")
            if _POWER.search(text.text):
                text = text.sub(_AFTER_POWER, rf"\1 {self.minus} ")
        return text

    def _user(self, match: re.Match[str]) -> str:
        return match.group().replace(".", f" {self.stop} ").replace("_", f" {self.underscore} ")

    def _guesses(self, match: re.Match[str]) -> str | None:
        """None for what does not go up."""
        return f"{match[1]} {self.or_} {match[2]}" if int(match[1]) < int(match[2]) else None

    def _race(self, match: re.Match[str]) -> str:
        hours, minutes, seconds = (int(figure) for figure in match.groups())
        return f"{hours} h, {f'{minutes} min ' if minutes else ''}{self.and_} {seconds} s"

    def _ion(self, match: re.Match[str]) -> str:
        count = {"²": " 2", "³": " 3"}.get(match["count"] or "", "")
        return f"{count} {self.plus if match['sign'] == '⁺' else self.minus}"

    def _pair(self, match: re.Match[str]) -> str | None:
        """None where one of them is no currency."""
        first, last = (self.currencies.get(code) for code in match.groups())
        return f"{first}-{last}" if first and last else None

    def _parts(self, match: re.Match[str]) -> str | None:
        top, bottom = (int(figure) for figure in match.groups() if figure)
        return self.parts(top, bottom) if 0 < top < bottom else None
