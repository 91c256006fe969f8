"""Plain figures: ordinals, decades, fractions, scores, ranges, and how many."""

import re
from typing import Final

from polyvox.text.normalize.english import numbers as english
from polyvox.text.normalize.english.numbers import NUMBER, NUMBER_END, NUMBER_START
from polyvox.text.normalize.malay.context import capitalised_like, last_words, word_before
from polyvox.text.normalize.malay.numbers import DASH, amount, cardinal, code, number, ordinal
from polyvox.text.tracked import TrackedText

# Thousands set apart by spaces, as schoolbooks print them.
_SPACED: Final = re.compile(
    r"(?<![\w.:/-])(?<!\d,)(?<!\d )(?P<rm>RM ?)?(?P<figure>[1-9]\d{0,2}(?: \d{3})++)(?! ?\d)(?![\w/:-])"
)
_BOTH: Final = re.compile(r"(?<![\w-])(?P<ke>[kK]e)-?(?:2-2|2-dua|dua-?2)(?P<end>nya)?(?!\w)")
_KE: Final = re.compile(
    r"(?<![\w-])(?P<ke>ke|Ke|KE)(?P<gap>[- ]?)(?P<figure>\d{1,3}(?:,\d{3})++|\d{1,18})"
    r"(?:/(?P<of>\d{1,4}))?(?P<end>nya)?(?![\w%/]|[.,]\d)"
)
_PLAN: Final = re.compile(r"\bRMKe-?(?P<figure>\d{1,2})(?!\w)")
_PER: Final = re.compile(r"(?<![\w-])(?P<per>[pP]er)[- ]?(?=\d)")
_TOGETHER: Final = re.compile(r"(?<![\w-])(?P<ber>[bB]er)-?(?P<figure>[2-9]|10)(?![\w.,])")
_DECADE: Final = re.compile(r"(?<![\w.-])(?<!\d,)(?P<figure>\d{1,3}0)['’]?-?an\b")
_ENGLISH_DECADE: Final = re.compile(r"(?<![\w.-])(?<!\d,)(?P<figure>(?:1[89]|20)?[1-9]0)['’]?s\b")
_ENGLISH_ORDINAL: Final = re.compile(r"(?<![\w.-])(?<!\d,)(?P<figure>\d{1,4})(?:st|nd|rd|th)\b", re.IGNORECASE)
_TRIP: Final = re.compile(r"(?<![\w.])(?P<days>\d{1,2})[HD](?P<nights>\d{1,2})[MN](?!\w)")
_FIXED: Final = re.compile(r"(?<![\w/.])(?<!\d,)24/7(?![\w/]|[.,]\d)")
_FRACTION: Final = re.compile(
    r"(?<![\w./])(?<!\d,)(?:(?P<whole>\d{1,4}+)[ -])?(?P<top>\d{1,3}+)(?P<first>[A-Z])?/(?P<bottom>\d{1,4}+)"
    r"(?P<letter>[A-Z])?(?![\w/]|\.\d)"
)
_YEARS: Final = re.compile(r"(?<![\w./])(?P<first>(?:19|20)\d\d)/(?P<last>(?:19|20)?\d\d)(?![\w/]|[.,]\d)")
_SCORE: Final = re.compile(rf"(?<![\w./-])(?<!\d,)(?P<first>\d{{1,3}}){DASH}(?P<last>\d{{1,3}})(?![\w/-]|[.,]\d)")
_VERSE: Final = re.compile(
    rf"(?<=[A-Za-z] )(?P<chapter>\d{{1,3}}):(?P<verse>\d{{1,3}})(?:{DASH}(?P<last>\d{{1,3}}))?(?![\w:])"
)
_RATIO: Final = re.compile(rf"{NUMBER_START}(?<!\d:)(?<!\d: ){NUMBER}(?:(?::| : ){NUMBER})++{NUMBER_END}(?!:)")
_SCALE: Final = re.compile(rf"{NUMBER_START}(?<!\d:)1 ?: ?(?:\d{{1,3}}(?:,\d{{3}})++|\d{{3,}}){NUMBER_END}(?!:)")
_RANGE: Final = re.compile(rf"{NUMBER_START}({NUMBER}){DASH}({NUMBER}){NUMBER_END}(?!\w)")
_NEGATIVE: Final = re.compile(r"(?<![\w)\]%-])[-–](?=\.?\d)")
_NUMBER: Final = re.compile(NUMBER)

# Nouns behind which "ke 5" is a rank and no direction.
_RANKED: Final = frozenset(
    "abad anak bab edisi ekspedisi episod fasa generasi hari jubli kali kelahiran kemerdekaan kurun lahir mesyuarat "
    "minggu musim olimpik perhimpunan persidangan pusingan semester separuh sidang siri tahun tangga tempat tingkat "
    "ulangtahun urutan".split()
)
_SCORES: Final = frozenset(
    "agregat beraksi berkesudahan jaringan kalah kekalahan kemenangan keputusan memimpin menang mendahului menewaskan "
    "mengalahkan mengatasi mengikat menumpaskan menundukkan seri skor terikat ternoktah tewas tumbang".split()
)
_LASTING: Final = frozenset(
    "cooldown dalam delay had interval latency masa selama setiap sleep tempoh timeout ttl tunggu".split()
)
_RATINGS: Final = frozenset("bagi dapat markah mendapat nilai rating skor".split())
_ROAD_NAME: Final = re.compile(
    r"\b(?:jalan|jln|kompleks|lebuh|lorong|lrg|persiaran|seksyen)\.?(?: [A-Z][\w'.]{0,15}){0,3} $", re.IGNORECASE
)
_ROAD_REACH: Final = 48
_MODELS: Final = frozenset(("airbus", "boeing"))
_DOORS: Final = frozenset("blok lot no nombor number rumah unit".split())
_ESTATES: Final = re.compile(r"\b(?:SS|PJU|PJS|USJ|BU|SD|SB|TTDI|U|BS|BK|PU|AU|SL|DU|TK) ?$")
_RATIOS: Final = frozenset(
    "bancuh bancuhan berskala campur campuran kadar model nisbah odds pelan peta ratio simen skala".split()
)
_SCRIPTURES: Final = frozenset("ayat matius markus lukas yohanes kejadian mazmur roma qs quran surah".split())
_CHAPTER_NAME: Final = re.compile(r"\b(?:A[a-z]{1,2}-[A-Z][A-Za-z']+|Yasin|Yunus|Yusuf|Maryam|Luqman|Taha) $")


def read_spaced(text: TrackedText) -> TrackedText:
    """Thousands set apart by spaces, where round thousands or ringgit make them sure, with commas instead."""
    return text.sub(_PER, r"\g<per> ").sub(_SPACED, _spaced)


def read_marked(text: TrackedText) -> TrackedText:
    """Figures with a mark of their own: ke-, ber-, -an, and English ordinals."""
    text = text.sub(_BOTH, lambda match: f"{match['ke']}dua-dua{match['end'] or ''}").sub(_KE, _rank)
    text = text.sub(_PLAN, lambda match: f"Rancangan Malaysia {ordinal(match['figure'])}")
    text = text.sub(_TOGETHER, lambda match: match["ber"] + cardinal(match["figure"]))
    text = text.sub(_DECADE, lambda match: cardinal(match["figure"]) + "an")
    text = text.sub(_ENGLISH_DECADE, _decade)
    return text.sub(_ENGLISH_ORDINAL, lambda match: english.ordinal(match["figure"]))


def read_verses(text: TrackedText) -> TrackedText:
    """Verses of scripture, scales and ratios, which look like times."""
    text = text.sub(_VERSE, _verse).sub(_SCALE, _ratio)
    return text.sub(_RATIO, lambda match: _ratio(match) if last_words(match, reach=32) & _RATIOS else None)


def read_parts(text: TrackedText) -> TrackedText:
    """Scores, years of a session, and fractions."""
    text = text.sub(_SCORE, _score).sub(_FIXED, "dua puluh empat tujuh")
    text = text.sub(_TRIP, lambda match: f"{cardinal(match['days'])} hari {cardinal(match['nights'])} malam")
    return text.sub(_YEARS, lambda match: f"{cardinal(match['first'])} {cardinal(match['last'])}").sub(
        _FRACTION, _fraction
    )


def read(text: TrackedText) -> TrackedText:
    """Every figure that is left."""
    text = text.sub(_RATIO, _ratio).sub(_RANGE, _range).sub(_NEGATIVE, "negatif ")
    return text.sub(_NUMBER, _number)


def _decade(match: re.Match[str]) -> str:
    """A decade, or seconds behind what lasts."""
    lasting = word_before(match).lower() in _LASTING and len(match["figure"]) < 4
    return cardinal(match["figure"]) + (" saat" if lasting else "an")


def _spaced(match: re.Match[str]) -> str | None:
    sure = match["rm"] or match["figure"].endswith("000")
    return (match["rm"] or "") + match["figure"].replace(" ", ",") if sure else None


def _rank(match: re.Match[str]) -> str | None:
    """With a space between, "ke" is a direction unless the noun before it can be counted off."""
    if match["gap"] == " " and word_before(match).lower() not in _RANKED:
        return None
    rank = capitalised_like(match["ke"], ordinal(match["figure"])) + (match["end"] or "")
    return f"{rank} daripada {cardinal(match['of'])}" if match["of"] else rank


def _verse(match: re.Match[str]) -> str | None:
    before = match.string[max(0, match.start() - 24) : match.start()]
    if not (_CHAPTER_NAME.search(before) or last_words(match) & _SCRIPTURES):
        return None
    words = f"{cardinal(match['chapter'])} ayat {cardinal(match['verse'])}"
    return f"{words} hingga {cardinal(match['last'])}" if match["last"] else words


def _score(match: re.Match[str]) -> str | None:
    if not last_words(match, reach=40) & _SCORES:
        return None
    return f"{cardinal(match['first'])} berbalas {cardinal(match['last'])}"


def _fraction(match: re.Match[str]) -> str:
    whole, top, bottom, letter = match["whole"], match["top"], match["bottom"], match["letter"] or ""
    if letter or match["first"] or names_road(match):
        first = f"{cardinal(top)} {match['first'] or ''}".rstrip()
        words = f"{first} per {cardinal(bottom)} {letter}".rstrip()
        return f"{cardinal(whole)} {words}" if whole else words
    if not whole and bottom in ("5", "10", "20", "100") and last_words(match) & _RATINGS:
        return f"{cardinal(top)} daripada {cardinal(bottom)}"
    return amount(match.group())


def names_road(match: re.Match[str]) -> bool:
    """Return whether two figures with a slash between them are the name of a road, as in "Jalan SS 2/24"."""
    before = match.string[max(0, match.start() - _ROAD_REACH) : match.start()]
    return _ROAD_NAME.search(before) is not None or _ESTATES.search(before) is not None


def _ratio(match: re.Match[str]) -> str:
    return " banding ".join(number(part.strip()) for part in match.group().split(":"))


def _range(match: re.Match[str]) -> str:
    first, last = match.groups()
    before = word_before(match).lower().rstrip(".")
    if before in _MODELS:
        return f"{code(first)} {code(last)}"
    if first == last or before in _DOORS:
        return f"{number(first)} {number(last)}"
    if len(first) <= 2 and first.isdigit() and last.isdigit() and int(first) > int(last) and " " not in match.group():
        return f"{number(first)} {number(last)}"
    computed = match.group().count(" ") == 2 and "=" in match.string[match.end() : match.end() + 16]
    return f"{number(first)} {'tolak' if computed else 'hingga'} {number(last)}"


def _number(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return (" " if before.isalnum() else "") + number(match.group()) + (" " if after.isalnum() else "")
