"""Dates and times of the Romance languages."""

import re
from dataclasses import dataclass

from polyvox.text.normalize.romance.language import Gender, RomanceLanguage
from polyvox.text.normalize.romance.numbers import DASH, whole_number
from polyvox.text.tracked import TrackedText

_ISO = re.compile(r"(?<![\w/.-])(\d{4})-(\d{2})-(\d{2})(?![\w/-]|\.\d)")
_SLASHED = re.compile(r"(\d(?<![\w/.,-].)\d?)([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|[.,]\d)")
_DAY_MONTH = re.compile(r"(\d(?<=[^\d/][ '(].)\d?)/(\d{1,2})(?![\w/]|[.,]\d)")
_INCH = ('"', "″", "”")
_WRITTEN_OUT = re.compile(r"[,:(] ?\d\d/0\d\Z")
_FIRST_DAY = re.compile(r"1(?<![\w/.,-].)(?:\.?[º°]|er)/(\d{1,2})(?:/(\d{4}|\d{2}))?(?![\w/]|[.,]\d)")
_MONTH_YEAR = re.compile(r"([01](?<![\w/.,-].)(?:(?<=0)[1-9]|(?<=1)[0-2]))/((?:19|20)\d\d)(?![\w/]|[.,]\d)")
_HOUR = r"\d(?<![\w:.,/].)(?:(?<=[01])\d|(?<=2)[0-4])?"
_SHORT_YEAR = re.compile(r"['’‘](?<!\w.)(?=\d\d\d?(?![\w'’]))")
# Hours from Greenwich: "GMT-3", "UTC+05:30".
_ZONE = re.compile(
    r"(?P<zone>GMT|UTC)(?<!\w...) ?(?P<sign>[+−-])0?(?P<hours>\d{1,2})(?::?(?P<minutes>[0-5]\d))?(?![\w:]|[.,]\d)"
)
# Day and month with a hyphen: "31-12".
_HYPHENED_DAY = re.compile(
    r"(\d(?<=[ (].)\d?)-(0[1-9]|1[0-2])(?![\w/-]|[.,]\d| ?[%€$°]| [a-zà-ÿ]{4,}(?<!entre)(?<!ante))"
)
# Day, short month and year with hyphens: "05-nov-2025".
_LETTERED_DAY = re.compile(r"(\d(?<![\w./-].)\d?)-([^\W\d_]{3,4})\.?-(\d{4})(?![\w-])")
# From one day to another: "01/02/25-28/02/25".
_PERIOD = re.compile(r"(\d(?<![\w/.,-].)\d?/\d\d?/(?:\d{4}|\d\d)) ?[-–] ?(?=\d\d?/\d\d?/\d\d)")
# The same without years: "1/11-31/3".
_SEASON = re.compile(r"(\d(?<![\w/.,-].)\d?)/(\d\d?) ?[-–] ?(\d\d?)/(\d\d?)(?![\w/-]|[.,]\d)")
_LAST_MONTH = 12
_AT_AN_HOUR = re.compile(r",? (?:a las|às|a partir|de \d)")
_DASH = re.compile("[-–]")
_ROMAN_MONTH = re.compile(r"(\d(?<![\w/.,-].)\d?)([-./])(X?I{1,3}|IV|VI{0,3}|IX|XI?|V)\2(\d{4})(?![\w/-])")
_ROMAN_DAY = re.compile(r"(\d(?<![\w/.,-].)\d?)[-/](X?I{1,3}|IV|VI{0,3}|IX|XI?|V)(?![\w/-]|\.\d)")
_ROMAN_MONTHS = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_SHOP_HOURS = re.compile(
    rf"({_HOUR})(?:\.([0-5][05]))?(?P<dash> ?[-–] ?)([01]?\d|2[0-4])(?:\.([0-5][05]))?(?![\w%€$]|[.,:]\d| ?[%€$°])"
)
_HOURS = re.compile(r"(12|24|48)(?<![\w./,]..)/(24|48|72)(?= ?h)")
_MARKED_HOUR = re.compile(r"\d ?h")
_DURATION = re.compile(r"(\d(?<![\w.,/].)\d{0,2}) ?h ?(\d{1,2}) ?(?:min|mn|m)(?!\w| \d)")
# What lasts so long, whose hours are no time of day: "conexão de 1h20".
_LASTING = re.compile(
    r"((?:conexão|conexión|escala|escale|scalo|espera|attesa|attente|atraso|retraso|retard|ritardo|viagem|viaje|viaggio"
    r"|trajeto|trayecto|trajet|duração|duración|durée|durata|intervalo|correspondance|percurso) d[ei] )"
    r"(\d{1,2}) ?h ?([0-5]\d)(?!\w)",
    re.IGNORECASE,
)
_SPAN_OF_HOURS = r"\d{1,2} ?[-–] ?\d{1,2}(?: ?h)?(?!\w|[.:]\d|,\d)"
_BARE_HOURS = re.compile(
    rf"(?<![^\W\d_])(?P<before>[^\W\d_]++)(?P<gap>:? \(?)"
    rf"(?P<spans>{_SPAN_OF_HOURS}(?:(?:,|;| e| y| et| /) {_SPAN_OF_HOURS})*)"
    r"(?=[.,;)]|$| /| e | y | et |\n)"
)
_WHOLE_HOUR = re.compile(
    r"((?<=\d:[0-5]\d[-–])(?:[01]?\d|2[0-4])(?![\w:]|[.,]\d)|(?<![\w:.,/-])(?:[01]?\d|2[0-4])(?=[-–]\d{1,2}:[0-5]\d))"
)
_NEXT_HOURS = re.compile(r"(?<=[-–]\d\d:[0-5]\d)/(?=\d{1,2}:[0-5]\d)")
_HOUR_SPAN = re.compile(r"(\d{1,2}) ?[-–] ?(\d{1,2})(?: ?h)?")
# "ore 9:00-18:00", from which to which hour: nothing stands between yet.
_HOURS_OF = re.compile(r"(?<!lle )(?<!\w)[Oo]re (?=\d{1,2}(?:[.:]\d\d)? ?[-–] ?\d{1,2}(?!\d))")
_AMONG_HOURS = frozenset(("entre", "tra", "fra"))
# Behind these nothing more says that two times are from one to the other.
_BEFORE_HOURS = frozenset("de da desde dès vers à a até hasta depuis verso".split())
_NEXT_TIME = re.compile(r"(?<=\dh)/(?=\d{1,2}h)")
_MORNING = 10
# So many or so many units of time: "10/12 giorni".
_GUESSED = re.compile(
    r"(\d(?<![\w/.,-].)\d?)/(\d{1,2})(?= (giorni|ore|mesi|anni|settimane|minuti|días|horas|meses|años|semanas|minutos"
    r"|dias|anos|jours|heures|mois|ans|semaines|minutes)(?!\w| \d))"
)
_LAST_HOUR = 24
_DOTTED_TIME = re.compile(
    r"(\d(?<=[^\W\d_] .)(?:(?<=[01])\d|(?<=2)[0-4])?)\.([0-5]\d)"
    r"(?:( ?[-–] ?)([01]?\d|2[0-4])\.([0-5]\d))?(?![\w]|[.,]\d)"
)
_TIMES_OF_HOURS = re.compile(
    rf"(?P<first>{_HOUR})\.(?P<minute>[0-5]\d)(?= ?h(?:s|rs|oras?)?(?!\w))"
    rf"|(?P<from>{_HOUR})\.(?P<from_minute>[0-5]\d)(?= (?:a|y|e|hasta|à) \d{{1,2}}[.:][0-5]\d ?h)"
)
_SPAN = re.compile(r"[-–—] ?\d")
_WORD_BEFORE = re.compile(r"([^\W\d_]+)(?P<mark>,?(?: ?:)? \(?|')$")
_SENTENCE_ENDS = re.compile(r"[»”\")*]*(?: *$| *\n| +[“«\"(]?[A-ZÀ-Ý¿¡])")
_NOUN_BEHIND = re.compile(r" ([a-zà-ÿ]+)")
# Words of a share that end like words of a date: "cerca de 2/3".
_SHARE_BEFORE = re.compile(
    r"(?:cerca|perto|acima|abaixo|além|mais|menos|más|encima|debajo|alrededor|plus|moins|près|autour|quorum|quórum"
    r"|circa|più|meno|oltre|maioria|mayoría|majorité|maggioranza|mínimo|minimum|minimo|máximo|maximum|massimo|quase"
    r"|casi|quasi|presque|fração|fracción|fraction|frazione) d[ei] \Z",
    re.IGNORECASE,
)
_SHARED_OUT = re.compile(
    r"(?: [aey] \d/\d)? (?:d[aeio]|de[lils]|d[aeo]s|dell?[aeo]|degli|du|d['’])(?!\w)(?! ?(?:19|20)\d\d)"
)
_FRACTION_WORDS = frozenset("de di em en entre".split())
_EARLIER_DAY = re.compile(
    r"([^\W\d_]+)(?: ?:)? (?:\d{1,2}(?:, \d{1,2})* (?:[eya]|et) |(?P<dates>(?:\d{1,2}/\d{1,2}(?:, | et | [eya] ))+))\Z"
)
_EARLIER_REACH = 32
_SHORT_YEAR_DIGITS = 2
# A name, or a version and the word behind it: "PHP 8", "da 7.4 a".
_VERSIONED = re.compile(r"(?:(?<!\w)(?=[A-Z])|\d\.\d+ )([^\W\d_]+) \Z")
# A feminine article, which no day has, or the noun itself: "alla 4.2.16"; a version that something goes on from.
_OF_VERSION = re.compile(
    r"(?<!\w)(?:la|alla|dalla|della|nella|sulla|versione|version|versión|versão|release|tag|patch|build|kernel"
    r"|firmware) \Z",
    re.IGNORECASE,
)
_NEXT_VERSION = re.compile(r" (?:a|à|alla|a la|à la|para|para a|vers|->|→) \d{1,3}\.\d{1,3}(?!\w|\.\d)")
_VERSION_REACH = 20
_ONE_DAY = frozenset(("le", "il"))
_COMMON_PARTS = range(3, 6)
_SHARE_REACH = 20
_OVER = re.compile(r"(?<=\d)(?P<sign>[/x])(?=(?P<low>\d{1,3})(?![\d/]|[.,]\d))")
# The blood pressure, unless the day of a measurement follows.
_PRESSURE = re.compile(
    r"(?:(?<!\w)PA|[Pp]ress(?:ão|ión|ione)|[Tt]ens(?:ão|ión|ion))(?!\w)[^\d.;!?\n]{0,40}(?<!\w)"
    r"(?<!dia )(?<!día )(?<!giorno )(?<!data )(?P<high>\d{1,3})\Z"
)
_PRESSURE_REACH = 56
_HIGHEST = 300


@dataclass(frozen=True, slots=True)
class Calendar:
    """The patterns of one language."""

    language: RomanceLanguage
    named: re.Pattern[str]
    time: re.Pattern[str]
    hours: re.Pattern[str]
    days: re.Pattern[str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "Calendar":
        months = "|".join(sorted(language.month_forms, key=len, reverse=True))
        half = r"(?: ?(?P<half>[aApP])\.? ?[mM]\b\.?(?!\w))?"
        mark = language.time_marks
        clock = rf"(?:[01]?\d|2[0-4])(?:(?::|{mark})[0-5]\d(?: ?(?:{mark})(?!\w))?|(?:{mark})(?!\w))"
        return cls(
            language,
            re.compile(
                rf"(\d(?<![\w.,:/-].)\d?)(?:º|°|er)? (?:de )?({months})\b\.?"
                r"(?:(?: de| del|,)? (\d{4})(?![\w%]|[.,]\d))?",
                re.IGNORECASE,
            ),
            re.compile(
                r"(?P<hour>\d(?<![\w:.,/-].)(?:(?<=[01])\d|(?<=2)[0-4])?)"
                rf"(?:(?::|(?P<mark>{language.time_marks}))(?P<minute>[0-5]\d)(?! ?mi?n\b)"
                rf"(?::(?P<second>[0-5]\d))?(?: ?(?:{language.time_marks})(?!\w))?"
                rf"|(?P<whole>{language.time_marks})(?!\w)|(?= ?[aApP]\.? ?[mM]\b)){half}(?!\w|:\d)"
            ),
            re.compile(rf"(?<![\w:.,/-])({clock}){DASH}({clock})(?!\w|:\d)"),
            re.compile(rf"(?<!\w)(?:[Ii]l|[Dd]al) (?=(\d{{1,2}})[-–](\d{{1,2}}) (?:{months})(?!\w))"),
        )

    def read(self, text: TrackedText) -> TrackedText:
        """Dates in figures or with a month's name, and times of day."""
        text = text.sub(_SHORT_YEAR, "")
        text = self._read_days(text).sub(_SLASHED, self._slashed)
        text = text.sub(_OVER, self._pressure)
        if "/" in text.text:
            text = text.sub(_NEXT_TIME, ", ")
            text = text.sub(_FIRST_DAY, lambda match: self._date("1", match[1], match[2])).sub(
                _HOURS, rf"\1 {self.language.upto} \2"
            )
            text = text.sub(_GUESSED, self._guessed)
            text = text.sub(_MONTH_YEAR, self._month_year).sub(_DAY_MONTH, self._day_month)
        text = text.sub(self.named, self._named)
        if _MARKED_HOUR.search(text.text):
            text = text.sub(_DURATION, rf"\1 h {self.language.and_minutes}\2 min")
            text = text.sub(_LASTING, rf"\1\2 h {self.language.and_minutes}\3 min")
            text = text.sub(_TIMES_OF_HOURS, r"\g<first>\g<from>:\g<minute>\g<from_minute>")
        text = text.sub(_DOTTED_TIME, self._dotted_time)
        if _SPAN.search(text.text):
            if self.language.before_time:
                text = text.sub(_SHOP_HOURS, _shop_hours)
            if self.language.before_hours:
                text = text.sub(_WHOLE_HOUR, r"\1:00").sub(_NEXT_HOURS, ", ").sub(_BARE_HOURS, self._bare_hours)
            if self.language.from_upto:
                text = text.sub(_HOURS_OF, f"{self.language.hours_from} ore ").sub(self.days, _no_article)
            text = text.sub(self.hours, self._hours)
        return text.sub(self.time, self._time)

    def _slashed(self, match: re.Match[str]) -> str | None:
        """A date, or a version: "PHP 8.2.12"; None for what is neither."""
        bare = match[2] == "." and len(match[4]) == _SHORT_YEAR_DIGITS and "0" not in (match[1][0], match[3][0])
        if bare and self._is_version(match):
            return f" {self.language.stop} ".join(
                whole_number(part, self.language) for part in match.group().split(".")
            )
        return self._date(match[1], match[3], match[4])

    def _read_days(self, text: TrackedText) -> TrackedText:
        """Days with hyphens, from one to another or with a Roman month, and hours from Greenwich."""
        if "-" in text.text:
            text = text.sub(_ISO, lambda match: self._date(match[3], match[2], match[1]))
            text = text.sub(_HYPHENED_DAY, self._hyphened_day).sub(_LETTERED_DAY, self._lettered_day)
        if "GMT" in text.text or "UTC" in text.text:
            text = text.sub(_ZONE, self._zone)
        if "/" in text.text and _DASH.search(text.text):
            text = text.sub(_PERIOD, rf"\1 {self.language.upto} ").sub(_SEASON, self._season)
        if "I" in text.text or "V" in text.text or "X" in text.text:
            text = text.sub(_ROMAN_MONTH, self._roman_month).sub(_ROMAN_DAY, self._roman_day)
        return text

    def _is_version(self, match: re.Match[str]) -> bool:
        if _NEXT_VERSION.match(match.string, match.end()):
            return True
        reach = max(0, match.start() - _VERSION_REACH)
        if _OF_VERSION.search(match.string, reach, match.start()):
            return True
        before = _VERSIONED.search(match.string, reach, match.start())
        dated = self.language.before_date | self.language.before_marked_date
        return before is not None and before[1].lower() not in dated

    def _date(self, day: str, month: str, year: str | None) -> str | None:
        if not (1 <= int(day) <= 31 and 1 <= int(month) <= 12):
            return None
        if year is None:
            return self.language.date(int(day), int(month), None)
        full = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < 70 else 1900)
        return self.language.date(int(day), int(month), full)

    def _day_month(self, match: re.Match[str]) -> str | None:
        found = _WORD_BEFORE.search(match.string[max(0, match.start() - 20) : match.start()])
        day, month = int(match[1]), int(match[2])
        inches = match.string[match.end() : match.end() + 1] in _INCH and day < month
        if not (1 <= day <= 31 and 1 <= month <= 12) or inches:
            return None
        if _WRITTEN_OUT.search(match.string, max(0, match.start() - 2), match.end()) is not None:
            return self.language.date(day, month, None)
        if not ((found is not None and self._dates(found)) or self._follows_a_day(match)):
            return None
        if self._is_share(match, found[1].lower() if found else ""):
            return None
        behind = _NOUN_BEHIND.match(match.string, match.end(), match.end() + 24)
        counted = behind is not None and behind[1] not in self.language.function_words
        if counted and day < month and match[1][0] != "0" and month in (2, 3, 4):
            return None
        return self.language.date(day, month, None)

    def _roman_month(self, match: re.Match[str]) -> str | None:
        """None for a numeral that no month has."""
        if match[3] not in _ROMAN_MONTHS:
            return None
        return self._date(match[1], str(_ROMAN_MONTHS.index(match[3])), match[4])

    def _season(self, match: re.Match[str]) -> str | None:
        """None for two shares or scores, of which none can only be a day."""
        if max(int(match[1]), int(match[3])) <= _LAST_MONTH:
            return None
        first, last = self._date(match[1], match[2], None), self._date(match[3], match[4], None)
        return f"{first} {self.language.upto} {last}" if first and last else None

    def _roman_day(self, match: re.Match[str]) -> str | None:
        """Day and month without a year: "31-XII"; None behind other words than those before a date."""
        dated = self.language.before_hyphened_date | self.language.before_marked_date
        if match[2] not in _ROMAN_MONTHS or _word_before(match) not in dated:
            return None
        return self._date(match[1], str(_ROMAN_MONTHS.index(match[2])), None)

    def _lettered_day(self, match: re.Match[str]) -> str | None:
        """None where the letters are no month."""
        month = self.language.month_forms.get(match[2].lower())
        return None if month is None else self._date(match[1], str(month), match[3])

    def _hyphened_day(self, match: re.Match[str]) -> str | None:
        """None behind other words, and for figures that rather go from one to the other."""
        zeros = match[1][0] == "0" or match[2][0] == "0" or _AT_AN_HOUR.match(match.string, match.end()) is not None
        if _word_before(match) not in self.language.before_hyphened_date or not (
            zeros or int(match[1]) > int(match[2])
        ):
            return None
        return self._date(match[1], match[2], None)

    def _zone(self, match: re.Match[str]) -> str:
        sign = self.language.signs["+"] if match["sign"] == "+" else self.language.minus
        minutes = int(match["minutes"] or 0)
        rest = f" {self.language.cardinal(minutes, Gender.ALONE)}" if minutes else ""
        return f"{match['zone']} {sign} {self.language.cardinal(int(match['hours']), Gender.ALONE)}{rest}"

    def _guessed(self, match: re.Match[str]) -> str | None:
        """None for figures that do not go up."""
        if int(match[1]) >= int(match[2]):
            return None
        gender = Gender.FEMININE if self.language.is_feminine(match[3]) else Gender.ALONE
        first, last = (self.language.cardinal(int(figure), gender) for figure in match.groups()[:2])
        return f"{first} {self.language.either(last)} {match[2]}"

    def _follows_a_day(self, match: re.Match[str]) -> bool:
        """Return whether a date ends a list of days or of dates: "em 5 e 6/11", "scadenze: 31/12 e 15/3"."""
        earlier = _EARLIER_DAY.search(match.string, max(0, match.start() - _EARLIER_REACH), match.start())
        if earlier is None:
            return False
        word = earlier[1].lower()
        if earlier["dates"] and int(match[1]) < int(match[2]):
            return word in self.language.before_marked_date or word in _ONE_DAY
        return word in self.language.before_date

    def _is_share(self, match: re.Match[str], before: str) -> bool:
        """Return whether two figures with a slash are a part of something: "mais de 3/4", "de 2/3 dos votos"."""
        if before == "o" and int(match[1]) < int(match[2]):
            return True  # the article of Portuguese
        if match[1][0] == "0" or int(match[1]) >= int(match[2]) or int(match[2]) not in self.language.fractions:
            return False
        if _SHARE_BEFORE.search(match.string, max(0, match.start() - _SHARE_REACH), match.start()):
            return True
        common = int(match[2]) in _COMMON_PARTS and before in _FRACTION_WORDS | self.language.before_marked_date
        return common and _SHARED_OUT.match(match.string, match.end()) is not None

    def _pressure(self, match: re.Match[str]) -> str | None:
        """The words between two figures of a blood pressure; None between any others."""
        found = _PRESSURE.search(match.string, max(0, match.start() - _PRESSURE_REACH), match.start())
        if found is None or not int(match["low"]) < int(found["high"]) < _HIGHEST:
            return None
        return f" {self.language.over} "

    def _dates(self, before: re.Match[str]) -> bool:
        """Return whether a date follows a word: any of those with a space, a weekday or a label with a mark too."""
        word = before[1].lower()
        marked = before["mark"].strip() != "" and before["mark"] != "'"
        return word in (self.language.before_marked_date if marked else self.language.before_date)

    def _month_year(self, match: re.Match[str]) -> str | None:
        """None behind the label of a number."""
        if _word_before(match) in self.language.labels.numbers:
            return None
        return self.language.month_of(self.language.months[int(match[1])], match[2])

    def _named(self, match: re.Match[str]) -> str | None:
        if not 1 <= int(match[1]) <= 31:
            return None
        month = self.language.month_forms[match[2].lower()]
        words = self.language.date(int(match[1]), month, int(match[3]) if match[3] else None)
        written_out = match[2].lower() == self.language.months[month]
        return f"{words}." if written_out and match.group().endswith(".") else words

    def _hours(self, match: re.Match[str]) -> str:
        """Two times of day with the words between them, and before them unless they stand there already."""
        before = _word_before(match)
        if before in _AMONG_HOURS:
            return f"{match[1]} {self.language.signs['&']} {match[2]}"
        if match.string.endswith(("tra le ", "Tra le ", "fra le ", "Fra le "), 0, match.start()):
            return f"{match[1]} e le {match[2]}"
        told = before in self.language.before_time | _BEFORE_HOURS
        upto = self.language.hours_upto + (" las" if before == "las" else "")
        return f"{'' if told else self.language.hours_from + ' '}{match[1]} {upto} {match[2]}"

    def _bare_hours(self, match: re.Match[str]) -> str | None:
        """Hours without minutes behind a weekday and the like; None for points and other pairs."""
        spans = _HOUR_SPAN.findall(match["spans"])
        if match["before"].lower() not in self.language.before_hours or not all(
            max(int(first), int(last)) <= _LAST_HOUR and max(int(first), int(last)) >= _MORNING for first, last in spans
        ):
            return None
        hours = _HOUR_SPAN.sub(r"\1:00-\2:00", match["spans"])
        return f"{match['before']}{match['gap']}{hours}"

    def _dotted_time(self, match: re.Match[str]) -> str | None:
        if _word_before(match) not in self.language.before_time:
            return None
        first = f"{match[1]}:{match[2]}"
        return f"{first}{match[3]}{match[4]}:{match[5]}" if match[3] else first

    def _time(self, match: re.Match[str]) -> str:
        half = {"a": "am", "p": "pm"}.get((match["half"] or "").lower(), "")
        words = self.language.time(int(match["hour"]), int(match["minute"] or 0), int(match["second"] or 0), half)
        ends = match.group().endswith(".") and _SENTENCE_ENDS.match(match.string, match.end())
        spaced = match.group().endswith(" ")  # behind the mark of an hour
        return f"{words}." if ends else f"{words} " if spaced else words


def _shop_hours(match: re.Match[str]) -> str | None:
    """Hours from and to, of which one at least has minutes behind a full stop; None for any other range."""
    if match[2] is None and match[5] is None:
        return None
    return f"{match[1]}:{match[2] or '00'}{match['dash']}{match[4]}:{match[5] or '00'}"


def _no_article(match: re.Match[str]) -> str | None:
    """Nothing for the article of a span of days, which has others; None where the second day is the next."""
    return None if int(match[2]) == int(match[1]) + 1 else ""


def _word_before(match: re.Match[str]) -> str:
    found = _WORD_BEFORE.search(match.string[max(0, match.start() - 20) : match.start()])
    return found[1].lower() if found else ""
