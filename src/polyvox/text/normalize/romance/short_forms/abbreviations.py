"""Abbreviations of the Romance languages."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from polyvox.text.normalize.romance.chat_letters import ChatLetters
from polyvox.text.normalize.romance.compass import Compass
from polyvox.text.normalize.romance.language import Noun, RomanceLanguage, Rule
from polyvox.text.tracked import TrackedText

_FIGURE = r"(?= ?\d| (?:[IVXLC]+\b|[A-Z](?!\w))(?!['’])| [A-Z]{1,4}-?\d| [a-z]\))"
_LEADING = r"(?![\w.])"
_MARKED_LEADING = {"-": r"(?=\w)", ".": r"(?![^\W\d_])", "º": r"(?![^\W\d_])", "°": r"(?![^\W\d_])"}
"""Behind a form that ends with a mark: "St-Michel", "n°12"."""
# Behind the full stop of a short name that does not end its sentence.
_INSIDE = r"(?=[,;:)/–-]| [;:]|,? \(?(?:[\da-zà-ÿ]|(?:R|US)?\$|[€£]))"
_CONTINUED: Final = re.compile(_INSIDE)
_BEFORE_MONTHS: Final = frozenset(
    "en em in de desde hasta até di da dal dall a fin début mi finales inicios principios del fine inizio dès".split()
)
_ALSO_WORDS: Final = frozenset("mar set dez ago mag".split())
"""Short months that end sentences as words."""
_ENDING_MONTHS: Final = frozenset((("set", "até"), ("set", "desde"), ("mar", "até"), ("mar", "desde")))
_SPACED_FIGURE: Final = re.compile(r" \d{1,4}(?![\w,.]\d|\w)")
_COUNTED: Final = re.compile(r"\d ?\Z")
_RANKED: Final = re.compile(r"(?:\d|[\dIVX]\.?[ºª°e]|;)(?: de)? ?\Z")
# Behind a short form that is a word too, but no word here: no sentence begins with these.
_UNMISTAKABLE: Final = re.compile(rf"{_INSIDE}|\d| [:;€$£]| (?:[IVX]{{2,}}|[B-DF-HJ-NP-XZ])(?![\w'’])")
_LAST_WORD: Final = re.compile(r"([^\W\d_]+)[ '’]$")
_FROM_ALREADY: Final = (" da ", " de ", " du ", " dal ")
_PREPOSITION_REACH: Final = 12
_ENDING_REACH: Final = 16
# Figures of a list or of a span that goes up, which count nothing: "21 y 22", "1, 3 e 5", "4-6".
_SEVERAL: Final = re.compile(
    r" ?(?P<first>\d{1,4})(?: ?[-–] ?|(?:, \d{1,4})*,? (?:[aeyou]|al?) )(?P<last>\d{1,4})"
    r"(?=[,;:)»\"”]|\.?$|\.? [A-ZÀ-Ý(]|\. | d[aeo]s? | del | e[mn] )"
)
_INITIALS: Final = frozenset(f"{letter}." for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SPELLED: Final = re.compile(" (?:[A-Z] )+\\Z")
_SHORT_YEAR: Final = 2
_FIGURE_HELD: Final = re.compile(r"\d")
_RANK_REACH: Final = 8
_NAME = r"(?= ?(?:d[a-z]{0,4}[ '](?:l[ao]? ?'?)?)?[A-ZÀ-ÖØ-Ý])"

_NAME_BEHIND: Final = re.compile(_NAME)

# A word with the mark that may shorten it: what a text must hold before the long patterns are worth a search.
_PARTS: Final = ("_", ".", "/", "-")
_BEGINNING: Final = re.compile(r"[^\W\d_]+[.ºª°/-]?")


@dataclass(frozen=True, slots=True)
class Forms:
    """A long pattern that is tried only where one of its forms may begin."""

    beginnings: frozenset[str]
    pattern: re.Pattern[str]
    words: frozenset[str] = frozenset()  # forms of one word and a full stop, which need no pattern

    def finditer(self, string: str, /) -> Iterator[re.Match[str]]:
        end = 0
        for beginning in _BEGINNING.finditer(string):
            if beginning.start() >= end and beginning.group() in self.beginnings:
                match = self.pattern.match(string, beginning.start())
                longer = match is None or match.end() < beginning.end()
                if longer and beginning.group() in self.words and _stands_alone(beginning):
                    match = beginning
                if match is not None:
                    end = match.end()
                    yield match


@dataclass(frozen=True, slots=True)
class AbbreviationRules:
    """The patterns of one language."""

    units: Mapping[str, Noun]
    stop: str  # of an address, between spaces
    groups: tuple[tuple[Mapping[str, str], re.Pattern[str]], ...]  # a sentence may end with the last
    forms: Forms
    before_names: frozenset[str]
    also_words: Mapping[str, frozenset[str]]
    calendar: "CalendarNames"
    compass: Compass
    by_word: tuple[tuple[re.Pattern[str], str], ...]
    by_index: Mapping[str, tuple[int, ...]]  # of the rules for words
    context_words: frozenset[str]
    contexts: tuple[Rule, ...]
    contexts_of_words: tuple[Rule, ...]  # those that a text without figures may hold
    letters: ChatLetters | None
    several: Mapping[str, str]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "AbbreviationRules":
        table = language.abbreviations
        groups = (
            (with_capitals(table.before_figures), _FIGURE),
            (table.before_names, _NAME),
            (with_capitals(table.weekdays), _INSIDE),
            (with_capitals(table.leading), _LEADING),
            (with_capitals(table.anywhere), r"(?!\w|/(?!(?:mes|mês|d[ií]a|sem|a[nñ]o|hora)(?!\w)))"),
        )
        words = frozenset(form for form in groups[-1][0] if form[-1] == "." and _BEGINNING.fullmatch(form))
        patterns = (*groups[:-1], ({form: form for form in groups[-1][0] if form not in words}, groups[-1][1]))
        beginnings = _beginnings(form for words, _ in groups for form in words)
        return cls(
            language.units,
            f" {language.stop} ",
            tuple((words, re.compile(behind)) for words, behind in groups),
            Forms(beginnings, re.compile(_by_first_letter(patterns)), words),
            frozenset(table.before_names),
            {word: frozenset(before.split()) for word, before in with_capitals(table.also_words).items()},
            CalendarNames.of(language),
            table.compass,
            tuple((pattern, meaning) for _, pattern, meaning in table.by_word),
            _by_word(_with_stops(words) for words, _, _ in table.by_word),
            frozenset(word for words, _, _ in table.by_word for word in _with_stops(words)),
            table.in_context,
            tuple(rule for rule in table.in_context if _FIGURE_HELD.search(rule[0]) is None),
            table.letters,
            table.several,
        )

    def read(self, text: TrackedText) -> TrackedText:
        beginnings = set(_BEGINNING.findall(text.text))
        if self.letters is not None and not self.letters.letters.isdisjoint(beginnings):
            text = self.letters.read(text)
        text = self._in_contexts(text, beginnings)
        text = self.compass.read(text)
        if not self.calendar.forms.beginnings.isdisjoint(beginnings):
            text = self.calendar.read(text)
        return text if self.forms.beginnings.isdisjoint(beginnings) else text.sub(self.forms, self._word)

    def _in_contexts(self, text: TrackedText, beginnings: set[str]) -> TrackedText:
        """Forms that mean something by what stands beside them; nearly no rule of those asked for matches."""
        plain = text.text
        known = self.context_words & beginnings
        for index in sorted({index for word in known for index in self.by_index[word]}):
            pattern, words = self.by_word[index]
            if pattern.search(plain):
                text = text.sub(pattern, partial(_in_context, words=words))
                plain = text.text
        for held, pattern, words in self.contexts if _FIGURE_HELD.search(plain) else self.contexts_of_words:
            if held in plain and pattern.search(plain):
                text = text.sub(pattern, partial(_in_context, words=words))
                plain = text.text
        return text

    def _word(self, match: re.Match[str]) -> str | None:
        """The words; a full stop stays where the text, the line or a sentence ends with it.

        None behind a figure for what is the symbol of a unit there: "45 min."
        """
        unit = self.units.get(match.group().rstrip("."))
        words, may_end = self._meaning(match)
        counted = _COUNTED.search(match.string, max(0, match.start() - 2), match.start()) is not None
        counted = counted and not self._labels(match)
        if counted and unit is not None and words not in (unit.one, unit.many):
            return None
        if counted and unit is not None:
            words = unit.one if match.string.endswith((" 1 ", "(1 "), 0, match.start()) else unit.many
        if not self._stands(match) or self._ends_address(match):
            return None
        ends = match.group().endswith(".") and _closes(match, before_capitals=may_end)
        glued = match.string[match.end() : match.end() + 1].isalnum()
        return words + ("." if ends else " " if glued else "")

    def _ends_address(self, match: re.Match[str]) -> bool:
        """Return whether a form is the end of an address or of a file's name, or the last letter of one."""
        if match.string.endswith(self.stop, 0, match.start()):
            return True
        if match.group() not in _INITIALS:
            return False
        before = _SPELLED.sub(" ", match.string[max(0, match.start() - _ENDING_REACH) : match.start()])
        return before.endswith(self.stop)

    def _labels(self, match: re.Match[str]) -> bool:
        """Return whether a form names the figure behind it, and counts nothing: "es. 4 pag. 88"."""
        labels = self.groups[0][0]
        return match.group() in labels and _SPACED_FIGURE.match(match.string, match.end()) is not None

    def _stands(self, match: re.Match[str]) -> bool:
        """Return whether a form is short for something, and not a word that its sentence ends with: "échec et mat."."""
        before = self.also_words.get(match.group().rstrip("."))
        if before is None or _UNMISTAKABLE.match(match.string, match.end()):
            return True
        if match.group() in self.before_names and _NAME_BEHIND.match(match.string, match.end()):
            return True
        text, start = match.string, match.start()
        if _RANKED.search(text, max(0, start - _RANK_REACH), start):
            return True
        last = _LAST_WORD.search(text[max(0, start - _PREPOSITION_REACH) : start])
        return last is not None and last[1].lower() in before

    def _meaning(self, match: re.Match[str]) -> tuple[str, bool]:
        """The words of a form by what follows it, and whether a sentence may end with them."""
        form, last = match.group(), len(self.groups) - 1
        known = [(index, words[form], behind) for index, (words, behind) in enumerate(self.groups) if form in words]
        fitting = (each for each in known if each[2].match(match.string, match.end()))
        index, words, _ = next(fitting, known[-1])
        many = self.several.get(words)
        if many and (figures := _SEVERAL.match(match.string, match.end())):
            words = many if int(figures["first"]) < int(figures["last"]) else words
        return words, index == last


@dataclass(frozen=True, slots=True)
class CalendarNames:
    """Short names of weekdays and months: "lun-vie", "feb. 2024", "oct. y nov."."""

    weekdays: Mapping[str, str]
    months: Mapping[str, str]
    language: RomanceLanguage
    month_of: Callable[[str, str], str]
    forms: Forms

    @classmethod
    def of(cls, language: RomanceLanguage) -> "CalendarNames":
        weekdays = {short.rstrip("."): name for short, name in language.abbreviations.weekdays.items()}
        months = {
            short: language.months[index]
            for short, index in language.month_forms.items()
            if short != language.months[index] and len(short) < len(language.months[index])
        }
        full = {name: name for name in language.months if name}
        any_name = _any_case(weekdays | months)
        only_month = _any_case({short: name for short, name in months.items() if short not in weekdays})
        return cls(
            weekdays,
            months,
            language,
            language.month_of,
            Forms(
                _beginnings(any_name.split("|")) | {f"{name}/" for name in _any_case(full).split("|")},
                re.compile(
                    rf"(?<![\w./-])(?:(?P<first>{any_name})(?P<stop>\.)?"
                    rf"(?P<joint> ?[-–/] ?| (?:a|al|au|à|e|y|et|o|ou) )"
                    rf"(?P<last>{any_name})(?:\.|(?!\w))"
                    rf"|(?P<of_year>{_any_case(months)})\.?(?= (?:de |del )?(?:19|20)\d\d(?!\d))"
                    rf"|(?P<slashed>{_any_case(full | months)})\.?/(?P<year>(?:19|20)?\d\d)(?![\w/])"
                    rf"|(?P<month>{only_month})\.(?!\w))"
                ),
            ),
        )

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(self.forms, self._names)

    def _names(self, match: re.Match[str]) -> str | None:
        """None for two words that only look like weekdays or months."""
        if match["of_year"]:
            return self.months[match["of_year"].lower()]
        if match["slashed"]:
            month = self.months.get(match["slashed"].lower(), match["slashed"].lower())
            return self.month_of(month, match["year"] if len(match["year"]) > _SHORT_YEAR else f"20{match['year']}")
        if match["month"]:
            return self._month(match)
        joint, stopped = match["joint"], match["stop"] or match.group().endswith(".")
        first, last = match["first"].lower(), match["last"].lower()
        days = first != last and first in self.weekdays and last in self.weekdays
        if joint in (" e ", " y ", " et ", " o ", " ou ") and not stopped and not days:
            return None
        for names in (self.weekdays, self.months):
            if first in names and last in names:
                words = (
                    self._span(match, names[first], names[last])
                    if joint.strip() in ("-", "–")
                    else names[first] + joint.replace("/", ", ") + names[last]
                )
                ends = match.group().endswith(".") and _closes(match, before_capitals=True)
                return words + ("." if ends else "")
        return None

    def _span(self, match: re.Match[str], first: str, last: str) -> str:
        """From one day or month to another; the next one is named beside it."""
        language, is_day = self.language, first in self.weekdays.values()
        names = list(dict.fromkeys(self.weekdays.values())) if is_day else list(language.months[1:])
        follows = names.index(last) == names.index(first) + 1
        if follows and is_day:
            return f"{first} {language.signs['&']} {last}"
        if follows and language.from_upto:
            return f"{first}-{last}"
        before = match.string[max(0, match.start() - _PREPOSITION_REACH) : match.start()].lower()
        if before.endswith(_FROM_ALREADY):
            return f"{first} {language.upto} {last}"
        if is_day and language.days_upto:
            return language.days_upto(first, last)
        if language.from_upto:
            return language.from_upto(first, last, False)
        return f"{first} {language.upto} {last}"

    def _month(self, match: re.Match[str]) -> str | None:
        """A month inside a sentence, or at its end behind a preposition; None for another word there."""
        short = match.group()[:-1].lower()
        if _CONTINUED.match(match.string, match.end()):
            return self.months[short]
        before = _LAST_WORD.search(match.string[max(0, match.start() - _PREPOSITION_REACH) : match.start()])
        preposition = before[1].lower() if before else ""
        other_word = short in _ALSO_WORDS and (short, preposition) not in _ENDING_MONTHS
        if other_word or preposition not in _BEFORE_MONTHS:
            return None
        return self.months[short] + ("." if _closes(match, before_capitals=True) else "")


def _in_context(match: re.Match[str], *, words: str) -> str:
    """The words of a rule; a full stop stays where the text or the line ends with it."""
    ends = match.group().endswith(".") and not words.endswith(".") and _closes(match, before_capitals=False)
    return match.expand(words) + ("." if ends else "")


def _closes(match: re.Match[str], *, before_capitals: bool) -> bool:
    """Return whether a text, a line or a sentence ends behind a match."""
    rest = match.string[match.end() : match.end() + 4].lstrip(' »”")*')
    return not rest or rest[0] == "\n" or (rest[0].isupper() and before_capitals)


def _with_stops(words: str) -> frozenset[str]:
    """Words as they stand inside a sentence, and those of letters alone with any mark behind them."""
    return frozenset(word + mark for word in words.split() for mark in (("", *"./-") if word[-1].isalpha() else ("",)))


def _by_word(words: Iterable[Iterable[str]]) -> dict[str, tuple[int, ...]]:
    """The places of the rules that each word asks for."""
    places: dict[str, tuple[int, ...]] = {}
    for index, known in enumerate(words):
        for word in known:
            places[word] = (*places.get(word, ()), index)
    return places


def _stands_alone(match: re.Match[str]) -> bool:
    """Return whether a word with its full stop is no part of anything: of an address, of a path."""
    text, start, end = match.string, match.start(), match.end()
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return not (before.isalnum() or before in _PARTS) and not (after.isalnum() or after in ("_", "/"))


def _beginnings(forms: Iterable[str]) -> frozenset[str]:
    """The words that forms begin with, those of letters alone with any mark behind them."""
    words = {_BEGINNING.findall(form)[0] for form in forms}
    return frozenset(words | {word + mark for word in words if word[-1].isalpha() for mark in ".ºª°/-"})


def with_capitals(words: Mapping[str, str]) -> dict[str, str]:
    """The forms, and the longer ones with a capital in front, of their first word or of each."""
    return {form: word for key, word in words.items() for form in _capitalized(key)}


def _capitalized(form: str) -> tuple[str, ...]:
    if len(form) == 1:
        return (form,)
    first = form[0].upper() + form[1:]
    return (form, first, " ".join(word[0].upper() + word[1:] for word in form.split(" ")))


def _any_case(words: Mapping[str, str]) -> str:
    """Short names in small letters, with a capital in front, or all in capitals."""
    forms = {form for key in words for form in (key, key.capitalize(), key.upper())}
    return "|".join(sorted(forms, key=len, reverse=True))


def _by_first_letter(groups: Iterable[tuple[Mapping[str, str], str]]) -> str:
    """A pattern of all forms that begins with their letters, so that a search skips to the next of these."""
    letters: dict[str, list[str]] = {}
    forms = [(form, behind) for words, behind in groups for form in words]
    for form, behind in sorted(forms, key=lambda each: len(each[0]), reverse=True):
        rest = _MARKED_LEADING.get(form[-1], behind) if behind is _LEADING else behind
        letters.setdefault(form[0], []).append(f"{re.escape(form[1:])}{rest}")
    return "|".join(rf"{re.escape(letter)}(?<![\w./-].)(?:{'|'.join(forms)})" for letter, forms in letters.items())
