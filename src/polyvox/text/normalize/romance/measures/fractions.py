"""Fractions of the Romance languages, and other figures with a slash between them."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Gender, Noun, RomanceLanguage
from polyvox.text.normalize.romance.measures.units import any_unit
from polyvox.text.normalize.romance.numbers import whole_number
from polyvox.text.tracked import TrackedText

_SLASHED: Final = r"(?<![\w./])(?:(?P<whole>\d{1,3}) )?(?P<top>\d{1,6})/(?P<bottom>\d{1,6})"
_PLAIN: Final = re.compile(rf"{_SLASHED}(?![\w/]|[.,]\d)")
_DECIMAL: Final = re.compile(r"(\d(?<![\w./,].)\d{0,2}[.,]\d{1,2})/(?=\d{1,3}(?![\w/]|[.,]\d))")
_THOUSANDS: Final = re.compile(r"/(?<=\d\.\d{3}/)(?=\d)|/(?<=[A-Z]{2}/)(?=\d\d)")
_WHOLE: Final = re.compile(r" (?:d[eiao]|de[lils]|d[eao]s|dell?[aeo]|degli|du)(?!\w)")
_DIRECTIVE: Final = re.compile(r"(\d{4}(?<![\w./].{4}))/(\d{1,4})/(?=[A-Z]{2,4}(?!\w))")
_SIZE: Final = re.compile(r"(?:[Tt](?:alla|aille|aglia|am)|[Tt]amanho|[Tt]alle)\.? \Z")
_SIZE_REACH: Final = 10
_LABEL: Final = re.compile(r"([^\W\d_]+)\.? \Z")
_LABEL_REACH: Final = 20
_SHORT_YEAR: Final = 2
_SHORT_NUMBER: Final = 3
_LONG_NUMBER: Final = 4
_NUMBERED: Final = frozenset("número numéro numero".split())
_MEMORIES: Final = frozenset("16 32 64 128 256 512 1024".split())
_STEPS: Final = frozenset(
    (
        "étape etapa passo paso step partie parte phase fase rata cuota puntata episodio épisode page pagina página "
        "volet leçon lezione lección lição capitolo capítulo chapitre slide diapo foto photo image round módulo modulo"
    ).split()
)
_MEASURED: Final = frozenset("cm m mm km g kg km/h".split())
_OF_TIME: Final = frozenset("h min mn gg j s".split())
_TENTHS: Final = 10
# What a number and its year are the name of, with a slash between.
_DOCUMENTS: Final = frozenset(
    (
        "número numéro numero ley lei decreto orgánica sentencia auto autos directiva reglamento orden stc sts stsj "
        "sap portaria resolução súmula processo pec pl plp adi pregão edital contrato"
    ).split()
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Fractions:
    """The patterns of one language."""

    language: RomanceLanguage
    measured: re.Pattern[str]
    halved: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "Fractions":
        units = any_unit(language.units)
        return cls(
            language,
            re.compile(
                rf"{_SLASHED} ?(?P<unit>{units})(?:\.(?=[,;:)]| [(a-zà-ÿ]))?"
                r"(?![\w²³]|['’]\w|/(?!(?:j|jour|die|dì|giorno|día|dia|h|sem)(?!\w)))"
            ),
            re.compile(r"(?<![\w./])(?:(?P<whole>\d{1,3}) )?1/2 (?P<noun>[a-zà-ÿ]{2,24})(?!\w)"),
        )

    def read(self, text: TrackedText) -> TrackedText:
        if "/" not in text.text:
            return text
        text = text.sub(_DIRECTIVE, self._directive).sub(_THOUSANDS, f" {self.language.slash} ")
        text = text.sub(_DECIMAL, rf"\1 {self.language.out_of} ")
        return text.sub(self.measured, self._measured).sub(self.halved, self._halved).sub(_PLAIN, self._plain)

    def _directive(self, match: re.Match[str]) -> str:
        """The number of a directive: "2011/83/UE"."""
        return "".join(f"{whole_number(part, self.language)} {self.language.slash} " for part in match.groups())

    def _measured(self, match: re.Match[str]) -> str:
        unit = self.language.units[match["unit"]]
        if (match["top"], match["bottom"]) == ("1", "2"):
            return self._half(match["whole"], unit)
        words = self._fraction(match)
        if words is None and self._is_range(match):
            return f"{self._span(match, unit)} {unit.many}"
        if words is None and match["unit"] in _OF_TIME and int(match["top"]) < int(match["bottom"]):
            first, last = (whole_number(match[figure], self.language, unit.gender) for figure in ("top", "bottom"))
            return f"{first} {self.language.either(last)} {last} {unit.many}"
        return f"{self._apart(match)} {unit.many}" if words is None else f"{words} {self.language.of(unit.one)}"

    def _is_range(self, match: re.Match[str]) -> bool:
        """Return whether a measure is from one figure to the other: "30/40 cm"."""
        top, bottom = int(match["top"]), int(match["bottom"])
        return match["unit"] in _MEASURED and _TENTHS <= top < bottom <= 2 * top

    def _span(self, match: re.Match[str], unit: Noun) -> str:
        first, last = (whole_number(match[figure], self.language, unit.gender) for figure in ("top", "bottom"))
        return f"{first} {self.language.upto} {last}"

    def _halved(self, match: re.Match[str]) -> str | None:
        """None where the word behind is none that anything is half of."""
        noun = match["noun"]
        if noun in self.language.function_words:
            return None
        return self._half(match["whole"], Noun(noun, noun, self.language.is_feminine(noun)))

    def _plain(self, match: re.Match[str]) -> str:
        return self._fraction(match) or self._apart(match)

    def _half(self, whole: str | None, noun: Noun) -> str:
        if not whole:
            return self.language.half(noun.one, noun.gender)
        name = self.language.singular(noun.one) if int(whole) == 1 else noun.many
        return f"{self.language.cardinal(int(whole), noun.gender)} {name} {self.language.and_half(noun.gender)}"

    def _fraction(self, match: re.Match[str]) -> str | None:
        top, bottom = int(match["top"]), int(match["bottom"])
        part = None if self._is_step(match) else self.language.fractions.get(bottom)
        if part is None or not 0 < top < bottom or "0" in (match["top"][0], match["bottom"][0]):
            return None
        if bottom == _TENTHS and _WHOLE.match(match.string, match.end()) is None:
            return None
        if match["whole"] and (top, bottom) == (1, 2):
            return f"{whole_number(match['whole'], self.language)} {self.language.and_half(Gender.ALONE)}"
        words = f"{self.language.cardinal(top, part.gender)} {part.one if top == 1 else part.many}"
        whole = match["whole"]
        return f"{whole_number(whole, self.language)} {self.language.signs['&']} {words}" if whole else words

    def _is_step(self, match: re.Match[str]) -> bool:
        """Return whether a figure counts steps: "étape 1/3"."""
        label = _LABEL.search(match.string, max(0, match.start() - _LABEL_REACH), match.start())
        return label is not None and label[1].lower() in _STEPS

    def _apart(self, match: re.Match[str]) -> str:
        """Two figures: a document's number and its year or serial, or a ratio."""
        top, bottom = (whole_number(match[figure], self.language) for figure in ("top", "bottom"))
        before = f"{whole_number(match['whole'], self.language)} " if match["whole"] else ""
        return f"{before}{top}{self._joint(match)}{bottom}"

    def _joint(self, match: re.Match[str]) -> str:
        """Words between two figures with a slash; a season, and the sizes of clothes, have none."""
        top, bottom = match["top"], match["bottom"]
        if _YEAR.fullmatch(top) and (int(top) + 1) % 100 == int(bottom) % 100 and len(bottom) in (2, 4):
            return ", "
        if bottom in _MEMORIES and match.groupdict().get("unit", "")[-1:] in ("B", "o", "b"):
            return ", "
        if _SIZE.search(match.string[max(0, match.start() - _SIZE_REACH) : match.start()]):
            return ", "
        label = _LABEL.search(match.string, max(0, match.start() - _LABEL_REACH), match.start())
        if label is not None and label[1].lower() in _NUMBERED:
            return f" {self.language.slash} "
        named = label is not None and label[1].lower() in self.language.labels.numbers | self.language.labels.files
        numbered = len(bottom) == _SHORT_YEAR and len(top) >= (_SHORT_NUMBER if named else _LONG_NUMBER)
        numbered = numbered or (label is not None and label[1].lower() in _DOCUMENTS)
        serial = numbered or bottom[0] == "0" or _YEAR.fullmatch(top) or _YEAR.fullmatch(bottom)
        share = int(top) < int(bottom) or int(top) == int(bottom) == _TENTHS
        return f" {self.language.slash if serial else self.language.out_of if share else self.language.over} "
