"""Signs that stand for words: of arithmetic, of the keyboard, of print."""

import re
from typing import Final

from polyvox.text.normalize.malay.context import last_words, word_before
from polyvox.text.normalize.malay.measures import per
from polyvox.text.normalize.malay.numbers import cardinal
from polyvox.text.placeholders import PLACEHOLDERS
from polyvox.text.tracked import TrackedText

_WORDS: Final = {
    "&": "dan",
    "@": "at",
    "%": "peratus",
    "‰": "per seribu",
    "=": "sama dengan",
    "+": "tambah",
    "±": "lebih kurang",
    "×": "kali",
    "−": "tolak",
    "÷": "bahagi",
    "≈": "lebih kurang",
    "≠": "tidak sama dengan",
    "≤": "kurang daripada atau sama dengan",
    "≥": "lebih daripada atau sama dengan",
    "∞": "infiniti",
    "√": "punca kuasa dua",
    "→": "ke",
    "⇒": "maka",
    "°": "darjah",
    "©": "hak cipta",
    "§": "seksyen",
    "№": "nombor",
    "π": "pi",
    "$": "dolar",
    "€": "euro",
    "£": "paun",
    "¥": "yen",
    "¢": "sen",
    "\\": "garis condong",
    "#": "hash",
}
_COMPARISONS: Final = {
    "<=": "kurang daripada atau sama dengan",
    ">=": "lebih daripada atau sama dengan",
    "!=": "tidak sama dengan",
    "==": "sama dengan",
}
_EMOTICON: Final = re.compile(
    rf"(?<![^\s{PLACEHOLDERS}])(?:[:;][-'^o]?[()DPpOo3/|]|[xX]D|<3+|\^[_.]?\^|[TQ]_[TQ]|-_+-|:'\(|[>][.:][<])(?![^\s.,!?{PLACEHOLDERS}])"
)
_DECORATION: Final = re.compile(r"([=#%$&@^~+|\\*/<>])\1{2,}")
_ARROW: Final = re.compile(r" ?(?:<?-{1,2}|=)> ?")
_COMPARING: Final = re.compile(r"[#~∼<>=]")
_COMPARISON: Final = re.compile(r" ?(<=|>=|!=|==) ?")
_SIGNED_FIGURE: Final = r"(?= ?(?:RM|rm|[$€£])? ?-?\.?\d)"
_EXPONENT: Final = re.compile(r"(?<=\d)\^(?=-?\d{1,3}(?!\d))")
_RAISED: Final = re.compile(r"(?<=\d)(?P<minus>⁻)?(?P<digits>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})(?= ?[A-Za-zµ])")
_NUMBER_SIGN: Final = re.compile(r"#(?= ?\d)")
_ABOUT: Final = re.compile(r"(?<![~∼\w])[~∼]++ ?(?=(?:RM|rm|[$€£])?\d)|±(?= ?(?:RM|rm)?\d)")
_LESS: Final = re.compile(rf" ?<{_SIGNED_FIGURE}|(?<=[\w)] )<(?= )")
_MENU: Final = re.compile(r"(?<=[A-Za-z]{2}) ?[>›] ?(?=[A-Z][a-z])")
_GREATER: Final = re.compile(rf" ?>{_SIGNED_FIGURE}|(?<=[\w)] )>(?= )")
_AT_PRICE: Final = re.compile(r" ?@ ?(?=(?:RM|rm) ?\d)")
_AT_TIME: Final = re.compile(r" @ ?(?=\d)(?!0\d{1,2}[ -]?\d{3})")
_GRADE: Final = re.compile(r"(?<=\b[A-D])\+(?!\w)")
_ALIAS: Final = re.compile(r"(?<=[a-z]) @ (?=(?P<next>[A-Z]\w*))")
_REACH: Final = 24
_PLACES: Final = frozenset(
    "Anjung Bandar Bangunan Blok Bukit Dataran Dewan Galeri Hospital Hotel Jalan Kampung Kedai Kompleks Kota Kuala Lot "
    "Lorong Mall Masjid Medan Menara Padang Pasar Pekan Plaza "
    "Pusat Resort Restoran Seksyen Sekolah Stadium Surau Sungai "
    "Taman Tanjung Tingkat Universiti Wisma".split()
)
_SHORT_NAMES: Final = re.compile(r"(?<=[A-Z]{2})-(?=[A-Z]{2})")
_BOTH: Final = re.compile(r" ?&& ?")
_CONTENT: Final = re.compile(
    r"(?<=\d)(?P<unit> ?(?:mcg|mg|µg|g|IU|mmol|mEq))/"
    r"(?=\d{1,4}(?:\.\d)? ?(?:ml|mL|ML|l|L|kg|g)\b)"
)
_FORMULA: Final = re.compile(r"(?<== )(?P<top>[a-z]{1,14}) ?/ ?(?P<bottom>[a-z]{1,14})\b")
_STARS: Final = re.compile(r"(?<=\d)\*(?= |[,.)]|$)")
_LODGINGS: Final = frozenset("hotel resort chalet penginapan homestay inn".split())
_CROSS: Final = re.compile("[x×]")
_FACTOR: Final = re.compile(r"(?<=[\w³²)])(?: ?[x×] ?(?=(?:RM|rm) ?\d)|(?<=\w) [x×] (?=\d)(?!\d{1,2} kali\b))")
_AT_PLACE: Final = re.compile(r"(?<=[A-Za-z]) @ ?(?=[a-z])")
_AND_OR: Final = re.compile(r"(?<=\bdan)/(?=atau\b)")
_OR: Final = re.compile(r"(?<=[a-z)]) ?/ ?(?=[A-Za-z(])|(?<=[A-Z]) ?/ ?(?=[a-z])")
# So many of something in a time, or to a distance: "req/min", "jam/hari".
_RATE: Final = re.compile(
    r"(?<=[a-z\d]) ?/ ?(?P<each>km|kg|min|minit|jam|j|saat|sec|hari|minggu|bulan|bln|tahun|thn|orang|org|sesi"
    r"|kelas)(?![\w/])"
)
_PATH: Final = re.compile(r"(?<!\S)(?:/[a-z][a-z\d_-]*)++(?!\w)")
_NO_RATE: Final = frozenset("hari minggu bulan tahun jam minit orang".split())
_PARTNERS: Final = re.compile(
    r"(?<=[a-z])/(?=[A-Z][a-z]+ [A-Z][a-z]|[A-Z][a-z]+ (?:menang|kalah|tewas|mara|menewaskan|tumpas))"
)
# Of marks in an examination.
_LOWER_GRADE: Final = re.compile(r"(?:(?<=[ \d][A-E])|(?<=^[A-E]))-(?=[\s,.;)]|$)")
# Between what reacts and what comes of it.
_REACTION: Final = re.compile(r"(?<=[A-Z\d)]) ?→ ?(?=\d{0,2}[A-Z][A-Za-z\d]{0,8})")
_DIVISION: Final = re.compile(r"(?<=\d) / (?=\d)")
_SLASH: Final = re.compile(r" ?/+ ?")
_PRODUCT: Final = re.compile(r"(?<=\d) ?[*·⋅∙×] ?(?=\d)")
_DIFFERENCE: Final = re.compile(r"(?<=[\w)]) {1,2}- (?=[\w(][^\n=]{0,24}=)")
_SEPARATOR: Final = re.compile(r" ?[|•·‣◦▪●■►▶]+ ?")
_SUPERSCRIPT: Final = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VOLUMES: Final = {"L": "seliter", "mL": "semililiter", "dL": "sedesiliter"}
_PER_VOLUME: Final = re.compile(r"(?<=[⁰¹²³⁴-⁹])/([md]?L)(?!\w)")
_DIGITS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_POWER: Final = re.compile(r"(?<=[\w)]) ?\^ ?(?P<digits>\d{1,6})(?![\w.])")
_SIGN: Final = re.compile("([" + "".join(re.escape(sign) for sign in _WORDS) + "])")


def read_comparisons(text: TrackedText) -> TrackedText:
    """Signs that say something of the figure behind them, whatever that figure is: "~RM5", "<10", "#1"."""
    text = text.sub(_EMOTICON, "").sub(_ABOUT, "lebih kurang ")
    text = text.sub(_BOTH, " dan ") if "&&" in text.text else text
    text = text.sub(_CONTENT, r"\g<unit> per ") if "/" in text.text else text
    text = text.sub(_STARS, lambda match: " bintang" if last_words(match, reach=40) & _LODGINGS else None)
    text = text.sub(_FACTOR, " kali ") if _CROSS.search(text.text) else text
    text = text.sub(_AT_PRICE, " pada harga ").sub(_AT_TIME, " pada ")
    if "→" in text.text and " + " in text.text:
        text = text.sub(_REACTION, " menghasilkan ")
    if _COMPARING.search(text.text) is None:
        return text
    text = text.sub(_NUMBER_SIGN, "nombor ")
    text = text.sub(_COMPARISON, lambda match: f" {_COMPARISONS[match[1]]} ")
    return text.sub(_MENU, ", ").sub(_LESS, " kurang daripada ").sub(_GREATER, " lebih daripada ")


def read_exponents(text: TrackedText) -> TrackedText:
    """Powers of a figure, whose exponent stays in figures before its unit: "10^8 m/s"."""
    text = text.sub(_PER_VOLUME, lambda match: f" {_VOLUMES[match[1]]}") if "/" in text.text else text
    text = text.sub(_RAISED, _raised)
    return text.sub(_EXPONENT, " kuasa ") if "^" in text.text else text


def read_powers(text: TrackedText) -> TrackedText:
    """Raised figures behind a figure or a single letter; behind a word they mark a footnote, which is not read."""
    return text.sub(_SUPERSCRIPT, _superscript).sub(_POWER, lambda match: f" kuasa {cardinal(match['digits'])} ")


def read(text: TrackedText) -> TrackedText:
    """Signs as words, where they mean something; decoration is left for the tidying to drop."""
    text = (
        text.sub(_DECORATION, " ")
        .sub(_ARROW, " ke ")
        .sub(_GRADE, " plus")
        .sub(_LOWER_GRADE, " minus")
        .sub(_ALIAS, lambda match: " alias " if _is_alias(match) else " di ")
        .sub(_SHORT_NAMES, " ")
        .sub(_AT_PLACE, " di ")
    )
    if "/" in text.text:
        text = _read_slashes(text)
    text = text.sub(_PRODUCT, " kali ").sub(_DIFFERENCE, " tolak ").sub(_SEPARATOR, ", ")
    return text.sub(_SIGN, lambda match: f" {_WORDS[match[1]]} ")


def _read_slashes(text: TrackedText) -> TrackedText:
    """Paths, rates and choices."""
    text = text.sub(_FORMULA, r"\g<top> per \g<bottom>")
    text = text.sub(_PATH, lambda match: match.group().replace("/", " slash ").lstrip())
    text = text.sub(_RATE, _rate).sub(_AND_OR, " ").sub(_DIVISION, " bahagi ")
    return text.sub(_PARTNERS, ", ").sub(_OR, " atau ").sub(_SLASH, " ")


def _is_alias(match: re.Match[str]) -> bool:
    """Return whether names of one person stand on both sides; what is done at a place has no capital."""
    before = match.string[max(0, match.start() - _REACH) : match.start()].split(" ")[-1]
    return before[:1].isupper() and match["next"] not in _PLACES


def _rate(match: re.Match[str]) -> str | None:
    """None for two names of time side by side, of which one or the other holds, as in "hari/bulan"."""
    return f" {per(match.group())}" if word_before(match).lower() not in _NO_RATE else None


def _raised(match: re.Match[str]) -> str:
    return f"^{'-' if match['minus'] else ''}{match['digits'].translate(_DIGITS)}"


def _superscript(match: re.Match[str]) -> str:
    figures = match.group().translate(_DIGITS)
    before = match.string[max(0, match.start() - 2) : match.start()]
    single = before[-1:].isalpha() and (not before[:-1].isalpha() or before[0] == "π")
    if before[-1:].isdigit() or before.endswith(")") or single:
        return f" kuasa {cardinal(figures)} "
    return "" if before[-1:].isalpha() else figures
