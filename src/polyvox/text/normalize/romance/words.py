"""Ordinals, Roman numerals, addresses, signs and plain figures of the Romance languages."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.language import Gender, RomanceLanguage
from polyvox.text.normalize.romance.measures.ranges import Ranges
from polyvox.text.normalize.romance.numbers import (
    DASH,
    FIRST_NUMBER,
    NEGATIVE,
    NUMBER,
    NUMBER_END,
    in_millions,
    number,
    spelled,
    whole_number,
)
from polyvox.text.normalize.romance.technical.addresses import spelled_part
from polyvox.text.normalize.romance.technical.file_endings import spelled_ending
from polyvox.text.tracked import TrackedText

_ROMAN: Final = re.compile(
    r"(?P<numeral>[IVXLCM](?:(?<![\w.'’&/–-].)|(?<=[IVX][-–].))[IVXLCDM]*+)(?P<suffix>(?<=I)er|re|e|ème)?(?!\w|['’]\w)"
)
_NUMERAL_FORM: Final = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_CENTURY: Final = re.compile(
    r"(?<!\w)(?=[IVX])(?P<numeral>X{0,3}(?:IX|IV|V?I{0,3}))"
    r"(?:(?P<suffix>(?<=I)er|e|ème|°|º)(?!\w)|(?= (?:secolo|siècle)))"
)
_NUMERAL: Final = re.compile(r"[IVXLCM](?<!\w.)[IVXLCM]*+(?:er|re|e|ème)?(?!\w*[a-zà-ÿ])")
_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMERAL_BEFORE: Final = re.compile(r"(?:[IVXLC]+(?:[-–]|,? (?:y |e |et |o |a |à )?))+\Z")
_COUNTED_BY_ONE: Final = frozenset(
    (
        "trimestre semestre quadrimestre piano grado edizione crociata guerra legislatura lettura commissione "
        "divisione circoscrizione fascia edición cruzada edição legislatura"
    ).split()
)
_CENTURIES: Final = frozenset("secolo secoli".split())
_BEFORE: Final = re.compile(r"([^\W\d_]+)\.? $")
_AFTER: Final = re.compile(r" ([^\W\d_]+)")
# A slash in words, and no bar of anything, before the rest of a number.
_NO_NOUN: Final = re.compile(r" (?:\d|[A-Z])")
_SHARE: Final = re.compile(r" (?:de|em|en|su|sur) (?:cada |las |as |os |los |ogni )?\d[\d.]* ([^\W\d_]+)")
# Of many, in languages whose counted nouns end with "s".
_ENDS_OF_VERBS: Final = ("n", "m", "ão")
# What each has so many of, and no whole: "2 filhas, 1 de 5 anos".
_OF_EACH: Final = frozenset(
    "anos años ans anni meses quilos kilos metros litros gramas gramos euros reais pesos".split()
)
_COUNTED_BEFORE: Final = re.compile(r"(?<![\w.,/])(\d{1,3}) ([a-zà-ÿ]+) (?:de|di|das|dos|su|sur) \Z")
_COUNTED_REACH: Final = 28
_LABEL: Final = re.compile(
    r"(?:\A|[.;,!?(\n•*-] ?)"
    r"(?:[^:;.,\n]{0,24}\b(?:total|totale|número|numéro|numero|nombre|cantidad|quantidade|quantité) d(?:[ei] |'))?+"
    r"([^\W\d_]{3,})(?: [^\W\d_]+){0,3} ?: \Z",
    re.IGNORECASE,
)
_LABEL_REACH: Final = 56
# No list and no span, whose figures are the names of things: "opciones: 1, 2 y 3".
_LABEL_END: Final = re.compile(r"(?!(?:,| [aeoyà]| et| ou| au?) \d| ?[-–])[.,;!?)]?(?:\s|$|\))")
# Plurals of what is measured, whose figures count something else.
_MEASURED: Final = frozenset("temperaturas máximas mínimas notas températures mínimas edades idades medidas".split())
_EMAIL: Final = re.compile(r"(?<![\w.%+-])[A-Za-z0-9._%+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]*[A-Za-z0-9])++")
_URL: Final = re.compile(
    r"(?<!\w)(?:https?://|www\.)[^\s<>()\"“”«»\[\]{}|\ue000-\uf8ff]+(?<![.,;:!?'’…*_~&-])", re.IGNORECASE
)
_HANDLE: Final = re.compile(r"@(?<![\w.]@)[A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z0-9_]++)*+(?![\w@])")
_DOMAIN: Final = re.compile(
    r"(?<![\w@./\\-])(?:[A-Za-z0-9-]++\.)+(?:com|org|net|edu|gov|info|io|es|fr|it|pt|br|mx|ar"
    r"|be|ch|ca|eu|gob|gub|cl|uk|tv|app|dev|ai|cat|gal|online|store|shop|site|blog"
    r"|(?<=com\.)[a-z]{2}|(?<=gob\.)[a-z]{2}|(?<=gov\.)[a-z]{2}|(?<=edu\.)[a-z]{2}|(?<=org\.)[a-z]{2})(?![\w@-]|\.\w)"
    r"(?:/(?=\w)[\w./-]*\w)?"
)
_PATH_PART: Final = r"(?:[\w-]|\.(?=\w))"
_PATH: Final = re.compile(
    r"(?<!\d[\"“])(?<![^\s(\"“«'`])(?:~|\.{1,2})?"
    rf"/(?!\d{{1,3}}(?![\w./-]))\.?\w{_PATH_PART}*+(?:/(?:{_PATH_PART}++|\{{\w++\}}))*+(?:\?\w++=[\w=&%-]*+|/)?(?!\w)"
)
_PIECE: Final = re.compile(r"[A-Za-zÀ-ÿ]+|\d+|.")
_BY: Final = re.compile(r"(?<![\w.,/])(\d{1,4}) ?[x×] ?(\d{1,4})(?![\d/]|[.,]\d)")
_UNIT_BEHIND: Final = re.compile(r" ?(?:([^\W\d_]+)|[x×] ?\d)")
_TIMES: Final = re.compile(r"(?<![\w.,/])(\d{1,3}(?:,\d\d?)?)[x×](?!\w|/\d| ?\d)(?! ?[=+*^<>≤≥²³]| [-−–] ?\d)")
_SLASH_LETTER: Final = re.compile(r"/(?:(?<=\d/)(?=[A-Z](?!\w))|(?<=[^\W\d_]{3}/)(?=\d)(?!(?:19|20)\d\d(?!\d)))")
_LONE_SLASH: Final = re.compile(r"(?<=[^\W_]) / (?=[^\W_])")
_ASCII_SIGNS: Final = {">=": "≥", "<=": "≤", "!=": "≠", "&&": "&"}
_ASCII_SIGN: Final = re.compile("[<>!]=(?!=)|&&")
_UNDERSCORE: Final = re.compile(r"_(?<=[A-Za-z\d]_)(?=[A-Za-z\d])")
_EQUALS: Final = re.compile(" ?={2,3}(?!=) ?")
# A star before figures is a key where none follows that would make them bold.
_KEY: Final = re.compile(
    r"(?P<tag>#(?<!\w.)(?=[^\W\d_])(?![A-Z]{1,3}-?\d))|#(?!\w)|#(?=[A-Z]{1,3}-\d)|"
    r"\*(?<![\w*]\*)(?=#|[\d*]{1,12}#|\d{1,4}(?!\w|[^\n*]{0,60}\*)|[^\W\d_]{1,20}#)"
)
_NUMBER_LABELS: Final = frozenset(
    "número numéro numero artículo article articolo artigo ley loi legge lei sección section sezione seção".split()
)
_LONG_NUMERAL: Final = 4
_ROMAN_REACH: Final = 32
_SERIAL: Final = 999
_GOALS: Final = 20
_HOUR: Final = 2
_RANGE: Final = re.compile(rf"({FIRST_NUMBER}){DASH}({NUMBER}){NUMBER_END}(?![\w/-])")
_SHORT_SPAN: Final = re.compile(r"1[5-9]\d\d[-–]\d\d")
_ANY_DASH: Final = re.compile("[-–—−]")
_NUMBER: Final = re.compile(NUMBER)
_MILLIONS: Final = re.compile(rf"(?P<figure>{FIRST_NUMBER})(?<=000) (?P<noun>[a-zà-ÿ]{{3,}})(?![\w'])")
_POWER: Final = re.compile(r"[²³](?<=[\w)].)")
_UNIT_OF_LENGTH: Final = re.compile(r"(?<![^\W\d_])[kcdm]?m$")
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_TEN_TO: Final = re.compile(r" ?[x×·*] ?(?=10[\^⁰¹²³⁴-⁹⁻])")
_EXPONENT: Final = re.compile(
    r"(?<=[\w)])(?:\^\(?(?P<plain>[-−]?\d{1,3}|[a-z](?!\w))\)?"
    r"|(?P<raised>[⁰¹²³⁴-⁹⁻][⁰¹²³⁴-⁹]{1,3}|[⁰¹⁴-⁹]|(?<=\d)[²³]))"
)
_ISOTOPE: Final = re.compile(r"(?<![\w)\]])([⁰¹²³⁴-⁹]{1,3})([A-Z][a-z]?)(?![a-z])")
_RAISED: Final = re.compile("[\\^⁰¹⁴-⁹]|\\d[²³]")


@dataclass(frozen=True, slots=True)
class Words:
    """The patterns of one language."""

    language: RomanceLanguage
    ordinal: re.Pattern[str]
    sign: re.Pattern[str]
    rate: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "Words":
        signs = "".join(re.escape(sign) for sign in language.signs)
        return cls(
            language,
            re.compile(rf"(\d(?<![\w.,/].)\d{{0,3}})(?:{language.ordinal_suffixes})(?!\w)"),
            re.compile(f" ?([{signs}]) ?"),
            re.compile(rf"(?<=[^\W\d_])/({'|'.join(sorted(language.rates))})(?!\w)"),
        )

    def read_addresses(self, text: TrackedText) -> TrackedText:
        """E-mail and web addresses, part by part."""
        for pattern, sign in ((_EMAIL, "@"), (_HANDLE, "@"), (_URL, "."), (_DOMAIN, ".")):
            if sign in text.text:
                text = text.sub(pattern, lambda match: self._aloud(match.group(), spell=True))
        if "/" not in text.text:
            return text
        return text.sub(_PATH, lambda match: self._aloud(match.group(), spell=False))

    def read_powers(self, text: TrackedText) -> TrackedText:
        """Powers with their exponent, which stays in figures: "10^8", "x²"."""
        if _RAISED.search(text.text) is None:
            return text
        text = text.sub(_ISOTOPE, self._isotope)
        return text.sub(_TEN_TO, f" {self.language.signs['×']} ").sub(_EXPONENT, self._exponent)

    def _isotope(self, match: re.Match[str]) -> str:
        return f"{match[2]} {whole_number(match[1].translate(_SUPERSCRIPTS), self.language)}"

    def _exponent(self, match: re.Match[str]) -> str:
        exponent = match["plain"] or match["raised"].translate(_SUPERSCRIPTS)
        based_on_letter = not match.string[match.start() - 1].isdecimal()
        based_on_ten = match.string.endswith("10", 0, match.start())
        if (based_on_letter or not based_on_ten) and exponent in self.language.exponents:
            return f" {self.language.exponents[exponent]}"
        sign = f"{self.language.minus} " if exponent[0] in "-−" else ""
        return f" {self.language.exponents['^']} {sign}{exponent.lstrip('-−')}"

    def read_numerals(self, text: TrackedText) -> TrackedText:
        """Roman numerals: of centuries, of rulers, behind a label, and those that can be nothing else."""
        if _NUMERAL.search(text.text) is None:
            return text
        return text.sub(_CENTURY, self._century).sub(_ROMAN, self._roman)

    def read_ordinals(self, text: TrackedText) -> TrackedText:
        return text.sub(self.ordinal, self._ordinal)

    def read_figures(self, text: TrackedText) -> TrackedText:
        """Sides and scores, ranges and every figure that is left."""
        if "/" in text.text:
            text = text.sub(_SLASH_LETTER, f" {self.language.slash} ")
        if "x" in text.text or "×" in text.text:
            text = text.sub(_BY, self._by).sub(_TIMES, self._times)
        if "000" in text.text:
            text = text.sub(_MILLIONS, self._millions)
        if _ANY_DASH.search(text.text):
            text = text.sub(_RANGE, self._range).sub(NEGATIVE, f"{self.language.minus} ")
        return text.sub(_NUMBER, self._number)

    def read_signs(self, text: TrackedText) -> TrackedText:
        text = text.sub(_POWER, self._power)
        if "/" in text.text:
            text = text.sub(self.rate, self._rate)
            text = text.sub(_LONE_SLASH, ", ")
        if "_" in text.text:
            text = text.sub(_UNDERSCORE, f" {self.language.web['_']} ")
        if "==" in text.text:
            text = text.sub(_EQUALS, lambda match: f" {self.language.web['=']}" * match.group().count("=") + " ")
        text = text.sub(_ASCII_SIGN, lambda match: _ASCII_SIGNS[match.group()])
        return text.sub(self.sign, lambda match: f" {self.language.signs[match[1]]} ")

    def read_keys(self, text: TrackedText) -> TrackedText:
        """Hashtags, and the keys of a phone: "*21#"."""
        return text.sub(_KEY, self._key) if "#" in text.text or "*" in text.text else text

    def _key(self, match: re.Match[str]) -> str:
        """A hashtag, or a key of a phone."""
        name = "hashtag" if match["tag"] else self.language.keys[match.group()[-1]]
        return f" {name} "

    def _power(self, match: re.Match[str]) -> str:
        """Of a unit without a figure, or of a variable."""
        before = match.string[max(0, match.start() - 3) : match.start()]
        if _UNIT_OF_LENGTH.search(before):
            return f" {self.language.powers[match.group()][0]}"
        return f" {self.language.exponents[match.group().translate(_SUPERSCRIPTS)]}"

    def _rate(self, match: re.Match[str]) -> str:
        unit = self.language.units.get(match[1])
        return f" {self.language.per(match[1] if unit is None else unit.one)}"

    def _aloud(self, address: str, *, spell: bool) -> str:
        plain = re.sub(r"^https?://", "", address, flags=re.IGNORECASE).rstrip("/")
        name, _, ending = plain.rpartition(".")
        letters = spelled_ending(ending) if name and "/" in name else None
        if letters:
            plain = f"{name}."
        words: list[str] = []
        for piece in _PIECE.findall(plain):
            if piece.isdecimal():
                words.append(whole_number(piece, self.language) if len(piece) < 5 else spelled(piece, self.language))
            elif piece.isalpha():
                words.append((spell and spelled_part(piece.lower(), self.language.acronyms)) or piece)
            elif piece in self.language.web:
                words.append(self.language.web[piece])
        return " ".join([*words, letters] if letters else words)

    def _century(self, match: re.Match[str]) -> str | None:
        value = _value(match["numeral"])
        if self.language.century is None or not value:
            return None
        return self.language.century(value)

    def _roman(self, match: re.Match[str]) -> str | None:
        found = _BEFORE.search(
            _NUMERAL_BEFORE.sub("", match.string[max(0, match.start() - _ROMAN_REACH) : match.start()])
        )
        before = found[1] if found else ""
        numeral = match["numeral"]
        if _NUMERAL_FORM.fullmatch(numeral) is None:
            return None
        value = _value(numeral)
        if before.lower() in _CENTURIES and self.language.century is not None:
            return self.language.century(value)
        if before.lower() in self.language.roman_labels and (len(numeral) > 1 or numeral in "IVX"):
            return self._labelled(value, before.lower())
        if before in self.language.rulers | self.language.queens and (len(numeral) > 1 or numeral in "IVX"):
            gender = Gender.FEMININE if before in self.language.queens else Gender.MASCULINE
            return self.language.ruler_number(value, gender)
        if (
            set(numeral) - set("IVX") and len(numeral) < _LONG_NUMERAL
        ) or numeral in self.language.acronyms.short_words:
            return None
        counted = _AFTER.match(match.string, match.end(), match.end() + 24)
        behind = "" if counted is None or counted[1] in self.language.function_words else counted[1]
        counts = len(numeral) > 1 or behind.istitle() or behind in _COUNTED_BY_ONE
        if behind and before.lower() in self.language.articles and counts:
            feminine = self.language.is_feminine(behind.lower())
            return self.language.ordinal(value, Gender.FEMININE if feminine else Gender.MASCULINE)
        return self.language.cardinal(value, Gender.ALONE) if len(numeral) > 1 else None

    def _labelled(self, value: int, label: str) -> str:
        if label not in self.language.ordered_labels:
            return self.language.cardinal(value, Gender.ALONE)
        return self.language.ordinal(value, Gender.FEMININE if self.language.is_feminine(label) else Gender.MASCULINE)

    def _ordinal(self, match: re.Match[str]) -> str:
        feminine = any(value for name, value in match.groupdict().items() if name.startswith("feminine"))
        short = any(value for name, value in match.groupdict().items() if name.startswith("short"))
        gender = Gender.FEMININE if feminine else Gender.MASCULINE if short else Gender.ALONE
        return self.language.ordinal(int(match[1]), gender)

    def _by(self, match: re.Match[str]) -> str:
        """Sides of something, or a score where the language writes it so."""
        behind = _UNIT_BEHIND.match(match.string, match.end(), match.end() + 8)
        measured = behind is not None and (behind[1] is None or behind[1] in self.language.units)
        few = max(int(match[1]), int(match[2])) < _GOALS
        score = self.language.scored_by_x and not measured and (few or self._is_between_teams(match))
        first, last = (whole_number(figure, self.language) for figure in match.groups())
        return f"{first} {self.language.upto if score else self.language.by} {last}"

    def _is_between_teams(self, match: re.Match[str]) -> bool:
        before, behind = (
            match.string[max(0, match.start() - 24) : match.start()].split(" ")[-2:-1],
            _AFTER.match(match.string, match.end()),
        )
        return bool(before) and before[0].istitle() and behind is not None and behind[1].istitle()

    def _times(self, match: re.Match[str]) -> str:
        times = self.language.times
        return f"{number(match[1], self.language, times.gender)} {times.one if match[1] == '1' else times.many}"

    def _range(self, match: re.Match[str]) -> str:
        """Both ends, which agree with what is counted; a serial number is no range."""
        gender = Gender.ALONE if _is_score(match) else self._gender(match)
        zeros = (len(match[2]) > 1 and match[2][0] == "0") or (len(match[1]) > _HOUR and match[1][0] == "0")
        serial = zeros or self._is_serial(match)
        form = Gender.ALONE if serial else gender
        first, last = (number(figure, self.language, form) for figure in match.groups())
        if _SHORT_SPAN.fullmatch(match.group()) and int(match[2]) > int(match[1][2:]) + 1:
            return f"{first} {self.language.upto} {last}"
        if serial or (match[1] == match[2] and len(match[1]) > 2):
            return f"{first}, {last}"
        return self._span(match, gender) or f"{first} {self.language.upto} {last}"

    def _span(self, match: re.Match[str], gender: Gender) -> str | None:
        noun = _AFTER.match(match.string, match.end(), match.end() + 24)
        counted = noun[1] if noun and noun[1].islower() and noun[1] not in self.language.function_words else ""
        return Ranges(self.language).said(match, (match[1], match[2]), counted, self._figure, gender)

    def _figure(self, written: str, gender: Gender) -> str:
        return number(written, self.language, gender)

    def _is_serial(self, match: re.Match[str]) -> bool:
        """Return whether two figures with a hyphen are the number of one thing: of a law, of an account."""
        label = _BEFORE.search(match.string[max(0, match.start() - 24) : match.start()])
        whole = match[1].isdigit() and match[2].isdigit()
        descends = whole and int(match[1]) > (_SERIAL if int(match[2]) > 9 else 99) and int(match[1]) > int(match[2])
        apart = whole and len(match[2]) > len(match[1]) + 1 and _AFTER.match(match.string, match.end()) is None
        descends = descends or apart or match.string.endswith("#", 0, match.start())
        if label is None:
            return descends
        return descends or label[1].lower() in _NUMBER_LABELS or (len(label[1]) == 1 and label[1].isupper())

    def _millions(self, match: re.Match[str]) -> str | None:
        """Full millions of something, with the preposition before it; None where no noun follows."""
        noun = match["noun"]
        if not in_millions(match["figure"]) or noun in self.language.function_words:
            return None
        return f"{number(match['figure'], self.language, Gender.MASCULINE)} {self.language.of(noun)}"

    def _number(self, match: re.Match[str]) -> str:
        text = match.string
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        gender = Gender.ALONE if before.isalpha() or before == "-" else self._gender(match)
        if gender is Gender.ALONE and self._is_counted_by_label(match):
            gender = Gender.FEMININE
        words = number(match.group(), self.language, gender)
        return (" " if before.isalnum() else "") + words + (" " if after.isalnum() else "")

    def _gender(self, match: re.Match[str]) -> Gender:
        """The form before a counted noun; alone where the figure is the name of something, or where no noun follows."""
        share = _SHARE.match(match.string, match.end(), match.end() + 48)
        if share is not None and share[1] not in self.language.function_words and share[1] not in _OF_EACH:
            return Gender.FEMININE if self.language.is_feminine(share[1]) else Gender.ALONE
        label = _BEFORE.search(match.string[max(0, match.start() - 24) : match.start()])
        following = _AFTER.match(match.string, match.end(), match.end() + 24)
        if following is None or not following[1].islower() or following[1] in self.language.function_words:
            return self._gender_before(match)
        elided = self.language.counted_before
        if elided is not None and following[1].endswith(_ENDS_OF_VERBS) and elided.verb(match):
            return self._gender_before(match)
        if following[1] == self.language.slash and _NO_NOUN.match(match.string, following.end()):
            return Gender.ALONE
        if label is not None and label[1].lower() in self.language.labels.numbers:
            return Gender.ALONE
        return Gender.FEMININE if self.language.is_feminine(following[1]) else Gender.MASCULINE

    def _is_counted_by_label(self, match: re.Match[str]) -> bool:
        """Return whether a figure counts the feminine nouns of the label before it: "plazas libres: 250"."""
        if not match.string.endswith(": ", 0, match.start()):
            return False
        label = _LABEL.search(match.string, max(0, match.start() - _LABEL_REACH), match.start())
        if label is None or not _LABEL_END.match(match.string, match.end()):
            return False
        noun = label[1].lower()
        if self.language.feminine_plurals:
            return noun.endswith(self.language.feminine_plurals)
        return noun.endswith("s") and noun not in _MEASURED and self.language.is_feminine(noun)

    def _gender_before(self, match: re.Match[str]) -> Gender:
        """The form of what was counted before, or of the whole of which a part is counted: "21 questões de 22"."""
        elided = self.language.counted_before
        if elided is not None and elided.is_figure_feminine(match):
            return Gender.FEMININE
        part = _COUNTED_BEFORE.search(match.string, max(0, match.start() - _COUNTED_REACH), match.start())
        whole = match.group()
        if part is None or not whole.isdigit() or len(whole) > 3 or int(part[1]) > int(whole):
            return Gender.ALONE
        return Gender.FEMININE if self.language.is_feminine(part[2]) else Gender.ALONE


def _is_score(match: re.Match[str]) -> bool:
    """Return whether few and fewer stand beside each other: "1-0"."""
    return match[1].isdigit() and match[2].isdigit() and _GOALS > int(match[1]) > int(match[2])


def _value(numeral: str) -> int:
    values = [_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))
