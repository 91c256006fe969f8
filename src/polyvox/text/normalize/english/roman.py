"""Roman numerals, where the words around them leave no doubt."""

import re
from typing import Final

from polyvox.text.normalize.english.context import word_after, word_before
from polyvox.text.normalize.english.numbers import cardinal, ordinal, year
from polyvox.text.normalize.english.speaker import is_speaker
from polyvox.text.tracked import TrackedText

_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMERAL: Final = re.compile(
    r"(?<=[A-Za-z.] )(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
    r"(?![\w&])(?!'[a-rt-z])(?!\.\w)"
)

_LETTERED: Final = re.compile(
    r"\.(?=[A-Z](?![\w.]))"
    r"(?:(?<=[nretk] [IVX]\.)|(?<=[nretk] [IVX]{2}\.)|(?<=[nretk] [IVX]{3}\.)|(?<=[nretk] [IVX]{4}\.))"
)
_SPAN: Final = re.compile(
    r"(?<=[A-Za-z.] )(?P<first>[IVXLC]{1,7})(?: ?[-–—] ?| to | and | & |, )(?P<last>[IVXLC]{1,7})(?![\w'&])(?!\.\w)"
)
_STAGE: Final = re.compile(
    r"(?:(?<=[Ss]tage )|(?<=[Tt]ype )|(?<=[Gg]rade )|(?<=[Cc]lass )|(?<=[Pp]hase ))(?P<numeral>I{1,3}"
    r"|IV)(?P<letter>[A-Da-d])(?P<digit>[1-3])?(?!\w)"
)
_LOWER: Final = re.compile(
    r"(?<=[A-Za-z.] )(?P<first>[ivxlc]{1,7})(?:(?: ?[-–—] ?| to | and )(?P<last>[ivxlc]{1,7}))?(?![\w'&])(?!\.\w)"
)
_ITEM: Final = re.compile(r"^(?P<open>[ (]{0,4})(?P<numeral>[ivx]{1,4})(?=[.)] )", re.MULTILINE)
_WORLD_WAR: Final = re.compile(r"(?<![\w-])WW ?-?(?P<numeral>I{1,3}|[123])(?!\w)")
# A part of a part, in brackets behind another one or its figure: "7(ii)", "3(a)(iv)".
_BRACKETED: Final = re.compile(r"(?<=[\d)])\((?P<numeral>i{2,3}|i[vx]|vi{1,3}|xi{1,3}|xi?v|(?<=\)\()[ivx])\)")
# What is given into a vein, "IV".
_DRIPPED: Final = frozenset(
    "access antibiotics bag bolus contrast drip drugs fluid fluids infusion iron lidocaine line lines "
    "medication meds over "
    "pole push saline site steroids therapy x".split()
)
_DOSED: Final = re.compile(r"\d ?(?:mg|mcg|g|m[Ll]|mEq|units?|L|\w*grams?|\w*liters?|milliequivalents) (?:\w+ )?\Z")
_NUMERAL_SHAPE: Final = re.compile(r"(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_COUNTED: Final = frozenset(
    "Olympiad Olympics Olympic Congress Corps Legion Dynasty Army Winter Summer Games Regiment Republic "
    "Amendment".split()
)
_LONG_NUMERAL: Final = re.compile("[IVX]{2}")
_ORDINAL: Final = re.compile(r"(?<![\w'-])(?P<numeral>[IVX]{2,6})(?:th|st|nd|rd)(?![\w-])")
_SECTION: Final = re.compile(r"(?P<sign>[§¶]) ?(?P<numeral>[IVX]{1,5}|[ivx]{2,5})(?:\.(?=[A-Z\d])|(?!\w))")
_YEAR: Final = re.compile(
    r"(?<![\w'-])(?=[MDCLXVI]{4})M{1,2}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?![\w'&-])"
)
_BOOKS: Final = frozenset(
    "genesis exodus leviticus deuteronomy joshua judges kings chronicles job psalm psalms proverbs ecclesiastes isaiah "
    "jeremiah ezekiel daniel hosea matthew mark luke john acts romans corinthians galatians ephesians hebrews "
    "revelation".split()
)
_LOWER_LABELS: Final = frozenset(
    "act appendix article book canto chapter chapters clause figure item note p page pages paragraph part pp scene "
    "section sections step stanza table vol volume".split()
)
_LABELS: Final = frozenset(
    "SB Sputnik Voyager Pioneer Luna Vostok Soyuz Gemini Saturn Titan Ariane Acts Amendment Amendments Articles "
    "Books Canto Cantos Chapters Grades Levels Movement Parts Phases Psalm "
    "Scenes Sections Titles Volumes Wars WrestleMania acts articles books canto cantos chapters grades levels "
    "movement movements parts phases scenes sections stages types volumes Factor factor Lemma Theorem Proposition "
    "Exhibit Tier tier Corps Act Annex Apollo Appendix Article Book Bowl Chapter Class Division Episode Fantasy "
    "Figure Grade Level Mark Part Phase Scene Schedule Season Section Series Stage Table Title Type Vol Volume War "
    "act article book chapter class grade level part phase scene section stage type volume".split()
)
# Games, films and phones whose fifth or tenth is written with one letter.
_SEQUELS: Final = frozenset("Auto Civ Civilization Fighter GTA Rocky Saw Scrolls iPhone".split())
_SUBJECTS: Final = frozenset(
    "Algebra Anatomy Art Biology Calculus Calc Chemistry Chem Economics Econ Engineering English French "
    "Geography Geology "
    "Geometry German Government History Italian Latin Math Mathematics Mechanics Music Philosophy Physics Physiology "
    "Psychology Psych Sociology Spanish Statistics Stats Trigonometry Accounting Finance Analysis Composition".split()
)
_BEHIND_COURSE: Final = frozenset(
    "and or meets meet class classes exam final lab teacher starts on at syllabus".split()
)
# Of which there is a "Type X".
_BOARDS: Final = frozenset("board boards drywall gypsum gypboard GWB sheetrock Sheetrock wallboard".split())
_RULERS: Final = frozenset(
    "Abbas Abdullah Afonso Ahmed Alexios Amadeus Amenhotep Antiochus Artaxerxes Baldwin Basil Bayezid Callixtus "
    "Canute Celestine Cleopatra Clovis Conrad Cosimo Cyrus Dagobert David Eric Erik Emmanuel Eugene Haakon Hadrian "
    "Honorius Hugh Hussein Isabella Joan Justinian Kenneth Lothair Lucius Ludwig Manuel Margrethe Martin Matthias "
    "Maximilian Michael Mithridates Mohammed Mustafa Osman Paschal Pedro Pepi Philippe Rama Sancho Seleucus Seti "
    "Shapur Sigismund Stephen Suleiman Sylvester Theodosius Thutmose Wilhelmina Zog Albert Alexander Alfonso "
    "Benedict Boniface Carlos Catherine Charles Christian Clement Constantine Darius Edward Elizabeth Felipe "
    "Ferdinand Francis Frederick George Gregory Gustav Harald Harold Henry Innocent Ivan James John Juan Julius Leo "
    "Leopold Louis Mary Mehmed Murad Napoleon Nicholas Olaf Otto Paul Peter Philip Pius Ptolemy Ramesses Ramses "
    "Richard Robert Rudolf Selim Sixtus Umberto Urban Victor Wilhelm William Xerxes".split()
)
_TITLES: Final = frozenset("King Queen Pope Emperor Empress Tsar Czar Kaiser Prince Sultan Saint St".split())
_NAME_BEFORE: Final = re.compile(r"([A-Z][a-z]+) [A-Z][a-z]+ $")
_CLEAR: Final = re.compile(r"[IVX]{2,}")
_GIVEN_NAMES: Final = _RULERS | frozenset(
    "Adam Andrew Anthony Arthur Benjamin Bill Daniel David Donald Douglas Franklin Harry Howard Jack Jacob Jerry Joe "
    "Joseph Harold Hank John Johnny Ken Kenny Kevin Luke Mark Mike Nate Robert Rob Roger Ron Steve Ted Tim Tom "
    "Tony Vince Will Kenneth Larry Lawrence Martin Matthew Michael Patrick Ralph Raymond Ronald Samuel Sammy "
    "Stephen Steven Theodore Thomas Thurston Timothy Walter".split()
)
_PERSON_BEFORE: Final = re.compile(r"\b([A-Z][a-z]+) (?:[A-Z](?:[a-z]+|\.) ){1,2}$")
_INITIAL_BEFORE: Final = re.compile(
    r"(?:\A|[.,;:(] |\b(?:Judge|Justice|Reverend|Senator|Representative|Doctor|Professor|Captain|by|and|with) )"
    r"[A-Z]\.? [A-Z][a-z]+ \Z"
)
_AFTER_FIRST: Final = frozenset("is has of reigned ruled died dies reigns rules succeeded ascended".split())
_AFTER_FIRST_OR_PRONOUN: Final = frozenset(
    "was had did never became married would could came left made built founded and".split()
)
_FIRST_CUE: Final = re.compile(
    r"(?:^|[.!?;:,(\n]|\b(?:under|of|by|from|since|after|before|between|when|and))\s*[A-Z][a-z]+ $"
)


def read(text: TrackedText) -> TrackedText:
    """Rulers ("Henry the eighth"), numbered parts ("Chapter four") and sequels ("Rocky four")."""
    text = text.sub(_WORLD_WAR, lambda match: f"World War {_war(match['numeral'])}").sub(_ITEM, _item)
    if "." in text.text:
        text = text.sub(_LETTERED, " ")
    if any(label in text.text for label in ("tage ", "ype ", "rade ", "lass ", "hase ")):
        text = text.sub(_STAGE, _stage)
    if ")(" in text.text or "(i" in text.text:
        text = text.sub(_BRACKETED, lambda match: f" ({cardinal(_digits(match['numeral'].upper()))})")
    if "§" in text.text or "¶" in text.text:
        text = text.sub(_SECTION, _section)
    if _LONG_NUMERAL.search(text.text):
        text = text.sub(_ORDINAL, lambda match: ordinal(_digits(match["numeral"])))
    if "M" in text.text:
        text = text.sub(_YEAR, lambda match: year(int(_digits(match.group()))))
    return text.sub(_SPAN, _span).sub(_NUMERAL, _numeral).sub(_LOWER, _lower)


def _section(match: re.Match[str]) -> str:
    part = "section" if match["sign"] == "§" else "paragraph"
    return f"{part} {cardinal(_digits(match['numeral'].upper()))} "


def _war(numeral: str) -> str:
    return cardinal(numeral if numeral.isdigit() else _digits(numeral))


def _stage(match: re.Match[str]) -> str:
    return " ".join(filter(None, (cardinal(_digits(match["numeral"])), match["letter"].upper(), match["digit"])))


def _span(match: re.Match[str]) -> str | None:
    """Two numerals behind a word that is numbered, and what lies between: "Chapters XII-XV"."""
    first, last = match["first"], match["last"]
    shaped = all(_NUMERAL_SHAPE.fullmatch(numeral.lower()) for numeral in (first, last))
    before = word_before(match).rstrip(".")
    clear = before[:1].isupper() and _CLEAR.fullmatch(first) and _CLEAR.fullmatch(last)
    if not shaped or not (before in _LABELS or clear):
        return None
    joint = match.group()[len(first) : -len(last)].strip(" -–—")
    word = {"": " to ", "&": " and ", ",": ", "}.get(joint, f" {joint} ")
    return cardinal(_digits(first)) + word + cardinal(_digits(last))


def _lower(match: re.Match[str]) -> str | None:
    """Small numerals behind a word that is numbered: "page xii", "pp. iv-xi"; a lone "c" or "l" is a letter."""
    first, last = match["first"], match["last"]
    before = word_before(match).rstrip(".").lower()
    if (before not in _LOWER_LABELS and not (before in _BOOKS and len(first) > 1)) or not _is_small_numeral(first):
        return None
    if last is None:
        return None if first == "i" and is_speaker(match) else cardinal(_digits(first.upper()))
    if not _is_small_numeral(last):
        return None
    joint = " and " if " and " in match.group() else " to "
    return cardinal(_digits(first.upper())) + joint + cardinal(_digits(last.upper()))


def value_of(numeral: str) -> str | None:
    """The figures of a numeral in capitals; none if its letters are in no order of one."""
    return _digits(numeral) if _NUMERAL_SHAPE.fullmatch(numeral.lower()) else None


def _is_small_numeral(letters: str) -> bool:
    return letters not in ("c", "l") and _NUMERAL_SHAPE.fullmatch(letters) is not None


def _item(match: re.Match[str]) -> str | None:
    """The number of a list's item; "i", "v" and "x" alone could be letters too, so that "ii" must be near."""
    numeral = match["numeral"]
    if not _is_small_numeral(numeral):
        return None
    around = match.string[max(0, match.start() - 400) : match.end() + 400]
    if len(numeral) == 1 and not re.search(r"^[ (]{0,4}(?:ii|iv|vi|ix|xi)[.)] ", around, re.MULTILINE):
        return None
    return match["open"] + cardinal(_digits(numeral.upper()))


def _numeral(match: re.Match[str]) -> str | None:
    numeral, before = match.group(), word_before(match).rstrip(".")
    if word_after(match) in ("century", "centuries") and numeral != "I":
        return ordinal(_digits(numeral))
    if (numeral == "IV" and _is_drip(match)) or (numeral == "I" and before in _LABELS and is_speaker(match)):
        return None
    if before == "the" and len(numeral) > 1 and word_after(match) in _COUNTED:
        return ordinal(_digits(numeral))
    if numeral in "CDLM" and before not in ("Bowl", "Book", "Volume"):
        return None
    if before in _SUBJECTS and (numeral != "I" or _is_course(match)):
        return cardinal(_digits(numeral))
    if before in _LABELS and not (len(numeral) == 1 and (before == "Series" or word_after(match) in _BOARDS)):
        return cardinal(_digits(numeral))
    if _is_ruler(match, before) or _is_namesake(match, numeral):
        return f"the {ordinal(_digits(numeral))}"
    if before in _SEQUELS and numeral in "VX":
        return cardinal(_digits(numeral))
    if before[:1].isupper() and _CLEAR.fullmatch(numeral):
        return cardinal(_digits(numeral))
    return None


def _is_drip(match: re.Match[str]) -> bool:
    """Return whether "IV" is what is given into a vein."""
    dosed = _DOSED.search(match.string, max(0, match.start() - 24), match.start())
    return word_after(match) in _DRIPPED or dosed is not None


def _is_course(match: re.Match[str]) -> bool:
    """Return whether the "I" behind a subject numbers a course and is not the pupil."""
    behind = match.string[match.end() : match.end() + 1]
    return not behind or behind in ",.;:)!?" or word_after(match) in _BEHIND_COURSE


def _is_ruler(match: re.Match[str], name: str) -> bool:
    """A known name with a numeral; after a title any name, and only there can a lone "I" be a number."""
    titled = _NAME_BEFORE.search(match.string[max(0, match.start() - 40) : match.start()])
    if titled is not None and titled.group(1) in _TITLES:
        return True
    if name not in _RULERS:
        return False
    return match.group() != "I" or _is_first(match)


def _is_first(match: re.Match[str]) -> bool:
    """Return whether the "I" behind a ruler's name is his number and not the speaker."""
    following = word_after(match)
    behind = match.string[match.end() : match.end() + 2]
    if following in _AFTER_FIRST or behind[:1] in (",", ".", ";", ")", ":", "'", "") or behind == " (":
        return True
    before = match.string[max(0, match.start() - 40) : match.start()]
    return following in _AFTER_FIRST_OR_PRONOUN and _FIRST_CUE.search(before) is not None


def _is_namesake(match: re.Match[str], numeral: str) -> bool:
    """Return whether a person is meant who has a forebear's whole name: "Henry Ford II"."""
    if numeral not in ("II", "III", "IV", "V"):
        return False
    before = match.string[max(0, match.start() - 40) : match.start()]
    if _INITIAL_BEFORE.search(before):
        return True
    person = _PERSON_BEFORE.search(before)
    return person is not None and not _GIVEN_NAMES.isdisjoint(person.group().split()[:-1])


def _digits(numeral: str) -> str:
    values = [_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return str(sum(-value if value < after else value for value, after in zip(values, following, strict=True)))
