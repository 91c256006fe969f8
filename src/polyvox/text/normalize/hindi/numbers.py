"""Figures as Hindi words."""

import re
from typing import Final

BELOW_HUNDRED: Final = (
    "शून्य एक दो तीन चार पांच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस "
    "बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस "
    "तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस "
    "चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास "
    "पचास इक्यावन बावन तिरेपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ "
    "साठ इकसठ बासठ तिरेसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर "
    "सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उनासी "
    "अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी "
    "नब्बे इक्यानवे बानवे तिरानवे चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे"
).split()
_SCALES: Final = ((10**11, "खरब"), (10**9, "अरब"), (10**7, "करोड़"), (10**5, "लाख"), (1000, "हज़ार"), (100, "सौ"))
LONGEST_CARDINAL: Final = 13

# Regular-expression pieces. A number never begins inside another, so a search that fails goes on behind it.
NUMBER_START: Final = r"(?<![\d.A-Za-z])(?<!\d,)"
NUMBER: Final = r"(?:(?:\d{1,2}(?:,\d{2}(?=,))++,\d{3}(?!,?\d)|\d{1,3}(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?+)"
NUMBER_END: Final = r"(?![.,]?\d)"
DASH: Final = r" ?[-–—~] ?"

_PARTS: Final = {
    "1/2": "आधा",
    "1/4": "एक चौथाई",
    "3/4": "तीन चौथाई",
    "1/3": "एक तिहाई",
    "2/3": "दो तिहाई",
}
_ORDINALS: Final = {1: "पहल", 2: "दूसर", 3: "तीसर", 4: "चौथ", 6: "छठ"}
ORDINAL: Final = re.compile(
    r"(?<![\d])(?<!\d[.,])(?P<figure>\d{1,3})(?P<end>ला|ली|ले|रा|री|रे|था|थी|थे|ठा|ठी|ठे|वाँ|वां|वीं|वें|वा|वी|वे)(?![\u0900-\u0963\u0966-\u097f])"
)


def cardinal(digits: str) -> str:
    """A cardinal by lakhs and crores. A figure too long for that, or with leading zeros, is read digit by digit."""
    if len(digits) > LONGEST_CARDINAL or (len(digits) > 1 and digits[0] == "0"):
        return spelled(digits)
    return _words(int(digits))


def _words(number: int) -> str:
    for size, name in _SCALES:
        if number >= size:
            high, low = divmod(number, size)
            return f"{_words(high)} {name}" + (f" {_words(low)}" if low else "")
    return BELOW_HUNDRED[number]


def year(digits: str) -> str:
    """A year: those of the second millennium by hundreds, "उन्नीस सौ सैंतालीस"."""
    hundreds, rest = divmod(int(digits), 100)
    if not 11 <= hundreds <= 19:
        return cardinal(digits)
    return f"{BELOW_HUNDRED[hundreds]} सौ" + (f" {BELOW_HUNDRED[rest]}" if rest else "")


def spelled(digits: str) -> str:
    """Digit by digit."""
    return " ".join(BELOW_HUNDRED[int(digit)] for digit in digits)


def in_groups(digits: str, size: int = 5) -> str:
    """Digit by digit with a comma after every few, as telephone numbers are read."""
    return ", ".join(spelled(digits[start : start + size]) for start in range(0, len(digits), size))


def number(text: str) -> str:
    """A match of `NUMBER`: whole, grouped by commas, or with decimals."""
    whole, point, decimals = text.replace(",", "").partition(".")
    return cardinal(whole) + (f" दशमलव {spelled(decimals)}" if point else "")


def fraction(top: str, bottom: str) -> str:
    """A part of a whole; halves, quarters and thirds have words of their own."""
    return _PARTS.get(f"{top}/{bottom}") or f"{cardinal(top)} बटा {cardinal(bottom)}"


def ordinal(figure: str, end: str) -> str:
    """A figure with the ending of an ordinal: "पहला", "पंद्रहवीं"."""
    value = int(figure)
    vowel = next((sign for sign in "ीे" if sign in end), "ा")
    if value in _ORDINALS:
        return _ORDINALS[value] + vowel
    return cardinal(figure) + {"ा": "वाँ", "ी": "वीं", "े": "वें"}[vowel]
