"""Short forms that only their setting explains: a patient's chart, a court's file, an advertisement, a recipe."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Final

from polyvox.text.normalize.english.abbreviations import setting_words
from polyvox.text.normalize.english.context import final_stop, word_after, word_before
from polyvox.text.tracked import TrackedText


@dataclass(frozen=True, slots=True)
class Setting:
    """The marks by which a text shows its setting, and its words: with a stop, and those that need none."""

    marks: re.Pattern[str]
    stopped: dict[str, str]
    bare: dict[str, str]

    def word(self, short: str, *, stop: bool) -> str | None:
        """The word behind a short form in small letters."""
        return (self.stopped.get(short) if stop else None) or self.bare.get(short)


_CHART: Final = Setting(
    re.compile(
        r"\b(?:pts?|[Pp]atients?|mg|m[Ll]|mcg|y/?o|[Hh]x|[Dd]x|[RT]x|BP|HR|CT|MRI|CXR|EKG|ECG|UA|[Ll]abs?|[Ee]xam|[Ll]ungs|TPN|BMP|CBC|CMP|LFTs?|ABG|afebrile|[Vv]itals|dialysis|chemo|"
        r"[Aa]bd|h/o|c/o|[Pp][Rr][Nn]|PO|IV|NKD?A|tabs?|caps?|[Ss]usp|q\d+h|[bt]\.?i\.?d|doses?|allerg\w+|surgery|"
        r"fractures?|x-?rays?|[Bb]iopsy|cultures?|ICU|clinic|milliliters?|milligrams?|swab|[Ss]/p|[Ff]/u|tender|fever|lesion|"
        r"[Bb]x|HIV|HCV|HBV|RPR|PPD|WBC|Hgb|EF|[Ee]cho|GBS|TSH|PSA|RTC|IOP|ROS|PMH|HPI|PSH|vax|[Ss]wab)\b"
    ),
    setting_words.CHART,
    setting_words.CHART_BARE,
)
_FILE: Final = Setting(
    re.compile(
        r"\b(?:versus|v\.|[Cc]ourt|Judge|Justice|[Pp]laintiffs?|[Dd]efendants?|[Cc]ounsel|[Mm]otions?|Attys?|USC|ECF|"
        r"Dkt|[Hh]earing|[Hh]rg|[Ss]entenced|convicted|charged|indicted|[Pp]robation|felony|[Tt]rial|[Aa]ppeal(?:s"
        r"|ed)?|"
        r"Cir|statute|Penal|DOB|[Cc]trm|pleaded|pled|arraigned|custody|testified|MSJ|MTD|TRO|"
        r"[Dd]ocket|settlement|Pltfs?|[Aa]ppell(?:ant|ee)s?|[Ss]upra|[Ii]nfra|inter alia|limitations"
        r"|cert\. denied|Mots?\.|Mem\. of|"
        r"Tr\. at|Br\. at|[Hh]r'g)|§"
    ),
    setting_words.FILE,
    {},
)
_LISTING: Final = Setting(
    re.compile(
        r"\b(?:BR|\dBA|\d BA|[Bb]drms?|[Bb]ds?\.|baths?|[Ss]q\.? ?[Ff]t|square feet|[Aa]pts?|[Rr]ent(?:al)?|/mo|"
        r"per month|[Ll]ease|FSBO|MLS|HOA|OBO|obo|acres?|[Gg]arage|"
        r"[Uu]tils?\.|[Cc]ondo|bed(?:rooms?)?|bath(?:rooms?)?|[Tt]ownhouse|W/D|A/C|[Pp]ets|[Dd]eposit|[Ss]ublet"
        r"|[Rr]oommates?|"
        r"WT[BS]|[Cc]ond\.|Venmo|VGC|BNIB|BNWT|AWD|FWD|[Bb]luetooth|[Cc]arfax|CARFAX|VIN|[Mm]ileage|[Ss]payed"
        r"|[Nn]eutered|smoke-free|[Rr]eward|[Cc]hipped|[Tt]abby|[Kk]ittens?|[Pp]upp(?:y|ies)|[Pp]ick-?up only"
        r"|[Ff]ree to g(?:oo)?d home|[Hh]se|[Tt]o let|p\.?c\.?m\b|pw\b|[Ff]urn|[Bb]smt|[Ff]or sale)(?!\w)"
    ),
    setting_words.LISTING,
    setting_words.LISTING_BARE,
)
_RECIPE: Final = Setting(
    re.compile(
        r"\b(?:cups?|tsp|[Tt]bsp|(?:tea|table)spoons?|[Bb]ake|oven|[Ss]tir|flour|sugar|onions?|garlic|butter|simmer"
        r"|[Ss]erves|"
        r"preheat|[Pp]reheat|eggs?)\b"
    ),
    setting_words.RECIPE,
    {},
)
_JOB: Final = Setting(
    re.compile(
        r"\b(?:PTO|HR|FT|PT|FTE|[Hh]iring|[Ss]alary|résumé|[Rr]esume|benefits|401\(?k|[Mm]gr|[Mm]anager|[Pp]ositions?|[Aa]pply|"
        r"[Ww]anted|[Ee]xp\.(?! (?:backoff|decay|function|growth)\b)|"
        r"WFH|DOE|EOE|[Rr]emote|QA|RNs?|LPNs?|CNAs?|BSN|[Bb]onus|CV|[Dd]egree|[Ee]xperience"
        r"|[Rr]ecruit(?:er|ing)?|needed|[Ss]upv|[Oo]nboarding|[Oo]n-call|OTE|p\.a\.|[Pp]ension|[Ee]mployer"
        r"|[Aa]gencies|[Pp]ayroll|per hour|/hr|[Bb]abysitter|[Ss]itter|[Nn]anny|[Cc]ashier|[Hh]elp wanted)(?!\w)"
    ),
    setting_words.JOB,
    {},
)
_SCHOOL: Final = Setting(
    re.compile(
        r"\b(?:GPA|AP|IB|HW|TA|Ph\.?D|B\.?A\.|BSc|MSc|GCSEs?|SAT|[Mm]ajor(?:s|ed|ing)?|[Mm]inor(?:s|ed|ing)|[Dd]ept|[Pp]rof|"
        r"Professor|[Ss]emester|[Cc]redits?|[Hh]omework|[Mm]idterms?|[Ff]inals?|[Ee]xams?|[Cc]lass(?:es)?|[Cc]ourses?|"
        r"[Tt]eacher|[Tt]each(?:es)?|[Uu]niv(?:ersity)?|[Cc]ollege|[Pp]upils?|[Ss]tudents?|[Tt]utors?|[Ll]ecture|[Qq]uiz|"
        r"Period|Grade|[Pp]rereq|[Ff]aculty|[Ss]yllabus|A-[Ll]evels?)\b"
    ),
    setting_words.SCHOOL,
    {},
)
_HOUSED: Final = re.compile(
    r"\b(?:BR|\d+ ?B[RA]|[Bb]drms?|[Bb]ed(?:room)?s?|[Bb]aths?|[Aa]pts?|[Rr]ent|[Hh]se|[Cc]ondo"
    r"|[Hh]ook-?ups?|[Ll]aundry|[Tt]own(?:house|home)"
    r"|[Rr]oommate|[Rr]anch|[Ww]/[Dd] (?:set|combo|hook)|[Dd]uplex|[Bb]ungalow|HOA)\b"
)
# A washer and dryer, somebody who does not smoke, and beds and baths: "Condo, 3/2".
_SLASHED: Final = re.compile(
    r"(?<![\w/])(?:(?P<washer>[Ww]/[Dd])|(?P<smoke>[Nn]/[Ss])"
    r"|(?P<beds>[1-6])/(?P<baths>[1-4])(?=[,;)]| (?:condo|ranch|home|house|townhouse|duplex|bungalow|cottage|brick"
    r"|split|colonial|unit|apt|w/|with)))(?![\w/])"
)
_SETTINGS: Final = (_CHART, _FILE, _LISTING, _RECIPE, _JOB, _SCHOOL)
_SHORT: Final = re.compile(r"(?<![\w.'/\\-])(?P<word>[A-Za-z]{2,7})(?:(?P<stop>\.)(?!\w)|(?![\w./-]))")
_STOPPED: Final = frozenset().union(*(setting.stopped for setting in _SETTINGS))
_BARE: Final = frozenset().union(*(setting.bare for setting in _SETTINGS))
_GOES_ON: Final = re.compile(r"[,;:)&]| (?:[a-z\d(&½¼¾$#]|[A-Z]{2}|[A-Z](?![A-Za-z])|Ct\b)")
_FIELD_ENDS: Final = frozenset("Eng Sci Ed Admin Bio".split())
_CALCULUS: Final = re.compile(r"∫|\bintegral|/dx|d/d")
# Where a short form without its stop is a word of its own, or a command.
_WORDS_TOO_BARE: Final = {
    "apt": re.compile(
        r"\b(?:an?|is|are|was|were|be|more|most|so|very|quite|seems?|particularly|especially) apt\b"
        r"|\bapt (?:to|for|and|descr|name|metaph|word|pupil|phrase|remind|compar|analog|title|sum|end|get|inst|up)"
    ),
    "avail": re.compile(
        r"\b(?:no|to|of|little|any|not|will|can|may|you|they|we|I) avail\b|\bavail (?:one|your|them|him|of)"
    ),
    "rm": re.compile(r"\brm (?:-|\S+(?:[./*]| dot ))"),
    "lg": re.compile(r"\blg (?:tv|oled)"),
}
_COUNTED: Final = re.compile(
    r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|ven|lve|teen|ty|dred|point|and) \Z"
)
_NEAR: Final = 10
_OPPOSED: Final = frozenset("counsel party parties side".split())


def read(text: TrackedText, found: frozenset[str]) -> TrackedText:
    """The words of each setting that the text shows, in full; `found` has all its words in small letters."""
    if "/" in text.text and _SLASHED.search(text.text) and _HOUSED.search(text.text):
        text = text.sub(_SLASHED, _slashed)
    if found.isdisjoint(_BARE) and ("." not in text.text or found.isdisjoint(_STOPPED)):
        return text
    for setting in _SETTINGS:
        if not found.isdisjoint(setting.stopped) and setting.marks.search(text.text):
            text = text.sub(_SHORT, partial(_in_full, setting=setting))
    return text


def _slashed(match: re.Match[str]) -> str | None:
    if match["washer"]:
        return "washer and dryer"
    if match["smoke"]:
        return "nonsmoker"
    return f"{match['beds']} {match['baths']}" if match["beds"] >= match["baths"] else None


def _in_full(match: re.Match[str], setting: Setting) -> str | None:
    short, stop = match["word"], match["stop"] is not None
    if not (short.islower() or short.istitle()):
        return None
    word = setting.word(short.lower(), stop=stop)
    if word is None or _is_other(match, setting, word):
        return None
    if short.lower() in setting_words.WORDS_TOO and not _GOES_ON.match(match.string, match.end()):
        return None
    word = _beside(match, word)
    return (word.capitalize() if short[0].isupper() else word) + (final_stop(match) if stop else "")


def _beside(match: re.Match[str], word: str) -> str:
    """The word as its neighbour has it: "opp. counsel", "PO Bx."."""
    short = match["word"].lower()
    if short == "opp" and word_after(match) in _OPPOSED:
        return "opposing"
    if short == "sat" and word_after(match) in ("fat", "fats"):
        return "saturated"
    if short == "cond" and word_before(match).lower() == "air":
        return "conditioning"
    if short == "fin" and word_before(match).lower() in ("owner", "seller", "bank"):
        return "financing"
    if short == "immed" and word_before(match).startswith("avail"):
        return "immediately"
    return "box" if short == "bx" and word_before(match).replace(".", "") == "PO" else word


def _is_other(match: re.Match[str], setting: Setting, word: str) -> bool:
    """Return whether the short form stands for something else than the setting has it for."""
    short, before, following = match["word"], word_before(match), word_after(match)
    if short in ("pls", "dx", "pts"):
        counted = _COUNTED.search(match.string, max(0, match.start() - _NEAR), match.start())
        return short == "pls" or (counted if short == "pts" else _CALCULUS.search(match.string)) is not None
    if setting is _LISTING and short in _WORDS_TOO_BARE and not match["stop"]:
        first, last = max(0, match.start() - _NEAR), match.end() + 3 * _NEAR
        return _WORDS_TOO_BARE[short].search(match.string, first, last) is not None
    if short.lower() == "bal":
        return _HOUSED.search(match.string) is None
    if word == "engineer":
        return before in ("of", "VP", "SVP", "EVP") or before.endswith(".")
    if setting is _SCHOOL and match["stop"]:
        return following in _FIELD_ENDS
    named = setting is _FILE and short.istitle() and before[:1].isupper() and word == "plaintiff"
    return named or (short.lower() == "bd" and following == "of")
