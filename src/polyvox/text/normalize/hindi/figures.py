"""Fractions, ranges, telephones, codes and signs."""

import re
from typing import Final

from polyvox.text.normalize.hindi.numbers import (
    DASH,
    NUMBER,
    NUMBER_END,
    NUMBER_START,
    ORDINAL,
    cardinal,
    fraction,
    in_groups,
    number,
    ordinal,
    spelled,
)
from polyvox.text.normalize.hindi.versions import points
from polyvox.text.tracked import TrackedText

_PHONE: Final = re.compile(
    r"(?<![\d-])(?<!\d[.,])(?P<country>\+91[ -]?)?(?P<first>[6-9]\d{4})[ -]?(?P<last>\d{5})(?!\d|[.,-]\d)"
    r"|(?<![\d-])(?<!\d[.,])(?<!\d )(?P<area>0\d{2,4})[ -](?P<local>\d{6,8}|\d{3,4}[ -]\d{4})(?![\d-])"
)
_GROUPED: Final = re.compile(
    r"(?=\d)(?<![\d-])(?<!\d[.,])(?:1[89]00[ -]\d{2,3}[ -]\d{3,4}|(?<=AWB )\d{3,4}(?: \d{3,4}){1,3}"
    r"|\d{3}-\d{7}|\d{4}(?: \d{4}){2,3}|\d{3} \d{3,4} \d{4}|\d++(?:-\d++){2,}+)(?![\d-]|[.,]\d)"
)
_CRICKET: Final = re.compile(r"(?<![\d./])(?P<runs>[3-9]\d|\d{3})/(?P<wickets>10|\d)(?![\d/]|\.\d)")
# Wickets and the runs that they cost; a batsman who stays in.
_BOWLED: Final = re.compile(r"(?<![\d./])(?P<wickets>10|\d)/(?P<runs>\d{2,3})(?![\d/]|\.\d)")
_FEW_RUNS: Final = re.compile(r"(?<![\d./])([12]\d)/(10|\d)(?![\d/]|\.\d)")
_GAME: Final = re.compile("ओवर|विकेट|रन(?![\u0900-\u0963])|गेंदबाज|पारी|क्रिकेट|स्पेल|/\\d{2,3} (?:लिए|झटके|चटकाए|रहा)")
_NOT_OUT: Final = re.compile(r"(?<=\d)\*(?![\d*])")
_VERSION: Final = re.compile(r"(?<![\d.])\d++(?:\.\d++){2,}+(?!\d)")
# A flight or a document: its letters, then three digits or more, one by one.
_LETTERED: Final = re.compile(r"(?<=[A-Z])-?(?P<digits>\d++)(?![.,/-]?\d)")
_ROMAN: Final = re.compile(
    r"(?=[IVX])(?:(?:(?<=भाग )|(?<=कक्षा )|(?<=अध्याय )|(?<=खंड )|(?<=अनुसूची )|(?<=फ़ेज़ )|(?<=फेज )|(?<=चरण )"
    r"|(?<=टाइप )|(?<=पेपर )|(?<=सेमेस्टर )"
    r"|(?<=इकाई )|(?<=यूनिट )|(?<=टियर ))(?P<part>I{1,3}|IV|VI{0,3}|IX|XI{0,2})(?![A-Za-z0-9-])"
    r"|(?<=[\u0900-\u097f] )(?P<numeral>I{2,3}|IV|VI{1,3}|IX)(?![A-Za-z0-9]| ?=))"
)
_ROMAN_ORDINALS: Final = {
    "II": "द्वितीय", "III": "तृतीय", "IV": "चतुर्थ", "VI": "षष्ठ", "VII": "सप्तम", "VIII": "अष्टम", "IX": "नवम",
}  # fmt: skip
_ROMAN_PARTS: Final = dict(zip("I II III IV V VI VII VIII IX X XI XII".split(), map(str, range(1, 13)), strict=True))
_TIMES: Final = re.compile(r"(?<![\w.,])(\d{1,2})[xX×](?! ?\d)(?![A-Za-z])(?! ?[=+*^<>≤≥²³]| [-−–] ?\d)")
_BY_LETTER: Final = re.compile("[0-9][xX×]")
_MULTIPLE: Final = re.compile(
    r"(?=\d)(?:(?<=P/E )|(?<=PE )|(?<=EPS )|(?<=ROI )|(?<=रेशियो )|(?<=अनुपात )|(?<=रिटर्न ))(\d{1,3})[xX](?![A-Za-z\d])"
    r"|(?<![\w.,])(\d{1,3})[xX](?= (?:तेज़|तेज|ज़्यादा|ज्यादा|अधिक|बढ़|बड़ा|बड़ी|रिटर्न|मुनाफ|मुनाफ़|ज़ूम|जूम|स्पीड|ऑप्टिकल"
    r"|डिजिटल|महंगा|महँगा))"
)
_EXPONENT: Final = re.compile(
    r"(?<=[\dA-Za-z)])(?:\^(?P<plain>-?\d{1,3})|(?P<raised>[⁰¹⁴-⁹⁻][⁰¹²³⁴-⁹]{0,3}|[²³][⁰¹²³⁴-⁹]{1,2}))"
)
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SAID_ACRONYMS: Final = {
    "RAM": "रैम", "ROM": "रोम", "SIM": "सिम", "PIN": "पिन", "NASA": "नासा", "ISRO": "इसरो",
    "AIDS": "एड्स", "NATO": "नाटो",
    "SAARC": "सार्क", "UNESCO": "यूनेस्को", "UNICEF": "यूनिसेफ़", "OPEC": "ओपेक", "COVID": "कोविड", "NEET": "नीट",
    "AIIMS": "एम्स", "FIFA": "फ़ीफ़ा", "PAN": "पैन", "SEBI": "सेबी", "NABARD": "नाबार्ड", "TRAI": "ट्राई",
    "BIMSTEC": "बिम्सटेक", "BRICS": "ब्रिक्स", "ASEAN": "आसियान", "CAT": "कैट", "GATE": "गेट",
    "INDIA": "इंडिया", "AYUSH": "आयुष", "LASER": "लेज़र", "RADAR": "रडार", "AMUL": "अमूल", "BHIM": "भीम", "MUDRA": "मुद्रा",
    "LAN": "लैन", "VAT": "वैट", "DRDO": "डीआरडीओ", "CIBIL": "सिबिल",
}  # fmt: skip
_SAID_ACRONYM: Final = re.compile(f"(?<![A-Za-z0-9])(?:{'|'.join(_SAID_ACRONYMS)})(?![A-Za-z0-9])")
_BY: Final = re.compile(r"(?<=\d) ?[xX×] ?(?=\d)")
_ALWAYS: Final = re.compile(r"(?<![\d.])24 ?[xX×/*] ?7(?!\d)")
_LABELLED: Final = re.compile(
    r"(?=\d)(?:(?<=पिन )|(?<=कोड )|(?<=ओटीपी )|(?<=OTP )|(?<=PIN )|(?<=हेल्पलाइन )"
    r"|(?<=पासवर्ड )|(?<=पासकोड )|(?<=Password )|(?<=password )"
    r"|(?<=PNR )|(?<=ID )|(?<=आईडी )|"
    r"(?<=नंबर )|(?<=खाता )|(?<=संख्या )|(?<=डायल करें )|(?<=है )|(?<=: ))"
    r"(?P<digits>\d{4,})(?![\d%/]|[.,]\d| (?:रुपये|लोग|साल|वर्ष))"
)
# Lakhs are written with commas; six digits without them that end a clause or tell a place are a post code.
_POST_CODE: Final = re.compile(
    r"(?<![\d.,₹$A-Za-z-])(?<!\d )[1-9]\d{5}"
    r"(?= ?(?:[।,;!?]|\.(?!\d)|$)|(?<!00) (?:में|पर|स्थित|के पते)(?![\u0900-\u0963]))",
    re.MULTILINE,
)
_EMERGENCY: Final = re.compile(
    r"(?=1)(?<![\d])(?<!\d[.,])1(?:00|01|02|08|12|81|098|930|091|076)(?= (?:पर|नंबर|डायल|हेल्पलाइन|मिला))"
)
_FIXED: Final = {
    "½": "आधा",
    "¼": "एक चौथाई",
    "¾": "तीन चौथाई",
}
_MIXED: Final = {"1½": "डेढ़", "2½": "ढाई", "1 1/2": "डेढ़", "2 1/2": "ढाई"}
_HALVES: Final = re.compile(r"(?<![\d./])(?:[12] ?½|[12] 1/2)(?![\d/])")
_FRACTION: Final = re.compile(r"(?<![\d./])(?P<top>\d{1,4})/(?P<bottom>\d{1,4})(?![\d/]|\.\d)|[½¼¾]")
_RATIO: Final = re.compile(rf"{NUMBER_START}(\d{{1,4}}):(\d{{1,6}}){NUMBER_END}")
_SCORE: Final = re.compile(
    r"(?<![\d-])(?<!\d[.,])(\d{1,3})-(\d{1,3})"
    r"(?= से (?:\S{1,12} ){0,3}?(?:जीत|फ़ैसल|फ़ैसल|फैसल|विजय|पछाड़|पछाड़|परास्त|पटखनी"
    r"|क्लीन|हार|हरा|मात|आगे|बढ़त|बराबर|ड्रॉ|टाई|रोक|अपने नाम|क़ब्ज|कब्ज|पराजित|शिकस्त|रौंद))"
)
# A greater number before a smaller one is no range.
_WON: Final = re.compile(r"(?<![\d-])(?<!\d[.,])(\d{1,2})-(\d{1,2})(?= (?:\([^()\n]{1,20}\) )?से(?![\u0900-\u0963]))")
_POINTS: Final = re.compile(
    r"(?<=स्कोर )(\d{1,3})-(\d{1,3})(?![\d-]|[.,]\d)|(?<![\d-])(?<!\d[.,])(\d)-(\d)(?= (?:रहा|पर (?:खत्म|ख़त्म|समाप्त)))"
)
_POINTS_LIST: Final = re.compile(
    r"(?<![\d-])(?<!\d[.,])\d{1,2}-\d{1,2}(?:(?:, ?| \()\d{1,2}-\d{1,2}\)?)++(?![\d-]|[.,]\d)"
)
_MAJORITY: Final = re.compile(
    r"(?<![\d:])(\d{1,2})[:-](\d{1,2})(?= (?:के|की|का) (?:बहुमत"
    r"|बढ़त|बढ़त|अंतर|स्कोर|फ़ैसले|फ़ैसले|फैसले|मत|अनुपात))"
)
_MINUS: Final = re.compile(r"(?<=[\d)²a-z]) ?[-−] ?(?=\d[\d.,]{0,12} ?=)")
# Between spaces in algebra: behind a power, a bracket or a lone letter, and before a lone letter or a question.
_LESS: Final = re.compile(
    r"(?<=[²³)]) [-−] (?=\(|\d{1,9}[a-z]?(?![A-Za-z])|[a-z](?![A-Za-z]))"
    r"|(?<=(?<![A-Za-z])[a-z]) [-−] (?=\(|\d{1,9}[a-z]?(?![A-Za-z])|[a-z](?![A-Za-z])(?! (?:तक|से)))"
    r"|(?<=\d) [-−] (?=\([a-z\d]|[a-z](?![A-Za-z])|\d{1,9} (?:कितना|कितने|का (?:मान|हल|उत्तर)|बराबर))"
)
_PLATE: Final = re.compile(
    r"(?<![A-Za-z])(?P<state>[A-Z]{2})[ -]?(?P<office>\d{1,2})[ -]?"
    r"(?P<series>(?:[A-Z] )?[A-Z]{1,3})[ -]?(?P<digits>\d{4})(?!\d)"
)
_MATCH: Final = re.compile("कबड्डी|हॉकी|फ़ुटबॉल|फुटबॉल|मैच|गोल|लीग|बैडमिंटन|टेनिस|मुक़ाबल|मुकाबल")
_RANGE: Final = re.compile(rf"{NUMBER_START}({NUMBER}){DASH}({NUMBER}){NUMBER_END}")
_NEGATIVE: Final = re.compile(r"(?<![\w)])-(?=\d)")
_NUMBER: Final = re.compile(NUMBER)
_YEAR: Final = re.compile("(?:19|20)[0-9]{2}")
_LONG: Final = re.compile(r"(?<![\d.,₹$])\d{10,20}(?![\d.,%])")
_LATIN: Final = re.compile("[A-Za-z×]")
_DIGIT: Final = re.compile("[0-9½¼¾]")
_DASHED: Final = re.compile("[-–—~]")
_PART: Final = re.compile("[/½¼¾]")
_ENGLISH_ORDINAL: Final = re.compile(r"(?<![\d.,A-Za-z])(\d{1,2})(?:st|nd|rd|th)(?![A-Za-z])")
_ENGLISH_ORDINALS: Final = dict(enumerate("फ़र्स्ट सेकंड थर्ड फ़ोर्थ फ़िफ़्थ सिक्स्थ सेवेंथ एट्थ नाइंथ टेंथ इलेवेंथ ट्वेल्थ".split(), start=1))
_GENERATION: Final = re.compile(r"(?<![\dA-Za-z.,])([2-6])([GD])(?![A-Za-z\d])")
_GENERATIONS: Final = dict(zip("23456", "टू थ्री फ़ोर फ़ाइव सिक्स".split(), strict=True))
_GENERATION_LETTERS: Final = {"G": "जी", "D": "डी"}
# Two or three of something: both numbers, and no word between them.
_A_FEW: Final = re.compile(r"(?<![\d./,₹$-])([1-9]\d?)-([1-9]\d?)(?= [\u0900-\u097f])(?! से(?![\u0900-\u0963]))")
_SIGNS: Final = {
    "+": "प्लस",
    "=": "बराबर",
    "×": "गुणा",
    "÷": "भागा",
    "±": "प्लस माइनस",
    "&": "और",
    "@": "एट",
    "#": "हैश",
    "%": "प्रतिशत",
    "°": "डिग्री",
    "²": "स्क्वायर",
    "³": "क्यूब",
    "√": "वर्गमूल",
    "π": "पाई",
    "≈": "लगभग बराबर",
    "≠": "बराबर नहीं",
    "≥": "से बड़ा या बराबर",
    "≤": "से छोटा या बराबर",
    "<": "से कम",
    ">": "से अधिक",
}
_SIGN: Final = re.compile(" ?([" + "".join(re.escape(sign) for sign in _SIGNS) + "]) ?")
_SPACES: Final = re.compile(r"\d+")


def read_phones(text: TrackedText) -> TrackedText:
    """Mobile, fixed and toll-free numbers, and those of emergencies."""
    text = text.sub(_PHONE, _phone).sub(_EMERGENCY, lambda match: spelled(match.group()))
    return text.sub(_GROUPED, _grouped)


def _grouped(match: re.Match[str]) -> str:
    """Digit by digit, apart from the overs, maidens, runs and wickets of a bowler."""
    groups = _SPACES.findall(match.group())
    bowled = len(groups) == 4 and all(len(group) < 3 and (group[0] != "0" or group == "0") for group in groups)
    return ", ".join(map(cardinal if bowled else spelled, groups))


def read_powers(text: TrackedText) -> TrackedText:
    """Powers with their exponent, which stays in figures."""
    return text.sub(_EXPONENT, _exponent)


def read(text: TrackedText) -> TrackedText:
    """Every figure that is left."""
    if _LATIN.search(text.text):
        text = _read_lettered(text)
    if " - " in text.text or " − " in text.text:
        text = text.sub(_LESS, " माइनस ")
    if _DIGIT.search(text.text) is None:
        return text
    if "=" in text.text:
        text = text.sub(_MINUS, " माइनस ")
    text = text.sub(_NOT_OUT, "" if "नाबाद" in text.text else " नाबाद").sub(_LABELLED, _labelled)
    text = text.sub(_LONG, lambda match: None if match.group().endswith("000") else in_groups(match.group(), 4))
    text = text.sub(_POST_CODE, lambda match: spelled(match.group()))
    text = text.sub(_ALWAYS, "चौबीस सात").sub(_BY, " गुणा ").sub(_VERSION, _version)
    text = text.sub(ORDINAL, lambda match: ordinal(match["figure"], match["end"]))
    if _PART.search(text.text):
        text = text.sub(_HALVES, lambda match: _MIXED[match.group().replace(" ½", "½")])
        if _GAME.search(text.text):
            text = text.sub(_FEW_RUNS, lambda match: f"{cardinal(match[1])} पर {cardinal(match[2])}")
            text = text.sub(_BOWLED, lambda match: f"{cardinal(match['runs'])} पर {cardinal(match['wickets'])}")
        text = text.sub(_CRICKET, lambda match: f"{cardinal(match['runs'])} पर {cardinal(match['wickets'])}")
        text = text.sub(_FRACTION, _fraction)
    return _read_pairs(text).sub(_NUMBER, _spaced)


def _read_lettered(text: TrackedText) -> TrackedText:
    """Figures beside Latin letters, and capitals that are said as a word."""
    text = _read_times(text).sub(_PLATE, _plate)
    text = text.sub(_ROMAN, _roman)
    text = text.sub(_SAID_ACRONYM, lambda match: _SAID_ACRONYMS[match.group()])
    text = text.sub(_ENGLISH_ORDINAL, _english_ordinal)
    text = text.sub(_GENERATION, lambda match: f"{_GENERATIONS[match[1]]} {_GENERATION_LETTERS[match[2]]}")
    return text.sub(_LETTERED, _lettered)


def _read_times(text: TrackedText) -> TrackedText:
    """So many times, or so many times as much."""
    if _BY_LETTER.search(text.text) is None:
        return text
    return text.sub(_MULTIPLE, lambda match: f"{match[1] or match[2]} गुना").sub(_TIMES, r"\1 बार")


def _read_pairs(text: TrackedText) -> TrackedText:
    """Majorities, ratios, points and ranges."""
    dashed = _DASHED.search(text.text) is not None
    if dashed or ":" in text.text:
        text = text.sub(_MAJORITY, lambda match: f"{cardinal(match[1])} {cardinal(match[2])}")
        text = text.sub(_RATIO, lambda match: f"{cardinal(match[1])} अनुपात {cardinal(match[2])}")
    if not dashed:
        return text
    text = text.sub(_POINTS_LIST, lambda match: match.group().replace("-", " ")).sub(_A_FEW, _a_few)
    text = text.sub(_POINTS, lambda match: f"{cardinal(match[1] or match[3])} {cardinal(match[2] or match[4])}")
    text = text.sub(_SCORE, lambda match: f"{cardinal(match[1])} {cardinal(match[2])}")
    text = text.sub(_WON, _won)
    return text.sub(_RANGE, _range).sub(_NEGATIVE, "माइनस ")


def read_signs(text: TrackedText) -> TrackedText:
    """Signs of arithmetic and of the keyboard as words."""
    return text.sub(_SIGN, lambda match: f" {_SIGNS[match[1]]} ")


def _phone(match: re.Match[str]) -> str:
    if match["area"]:
        return f"{spelled(match['area'])}, {in_groups(''.join(_SPACES.findall(match['local'])), 4)}"
    country = "प्लस नौ एक, " if match["country"] else ""
    return f"{country}{spelled(match['first'])}, {spelled(match['last'])}"


def _labelled(match: re.Match[str]) -> str | None:
    """None for a year behind a colon, which begins what is told."""
    digits = match["digits"]
    if match.string.startswith(": ", match.start() - 2) and _YEAR.fullmatch(digits):
        return None
    return in_groups(digits, 4 if len(digits) > 6 else 6)


def _lettered(match: re.Match[str]) -> str:
    digits = match["digits"]
    behind = " " if match.string[match.end() : match.end() + 1].isalpha() else ""
    return " " + (spelled(digits) if len(digits) > 2 else cardinal(digits)) + behind


def _version(match: re.Match[str]) -> str:
    gap = " " if match.string[match.start() - 1 : match.start()].isalpha() else ""
    return gap + points(match.group())


def _roman(match: re.Match[str]) -> str:
    if match["part"]:
        return cardinal(_ROMAN_PARTS[match["part"]])
    return _ROMAN_ORDINALS[match["numeral"]]


def _english_ordinal(match: re.Match[str]) -> str:
    return _ENGLISH_ORDINALS.get(int(match[1])) or ordinal(match[1], "वाँ")


def _a_few(match: re.Match[str]) -> str | None:
    """None unless the second number is the next."""
    return f"{cardinal(match[1])} {cardinal(match[2])}" if int(match[2]) == int(match[1]) + 1 else None


def _won(match: re.Match[str]) -> str | None:
    return f"{cardinal(match[1])} {cardinal(match[2])}" if int(match[1]) > int(match[2]) else None


def _range(match: re.Match[str]) -> str:
    """From one number to another; points of a match where the first is greater; the same twice is so much for each."""
    points = match[1].isdigit() and match[2].isdigit() and int(match[1]) > int(match[2])
    between = " " if match[1] == match[2] or (points and _MATCH.search(match.string)) else " से "
    return number(match[1]) + between + number(match[2])


def _plate(match: re.Match[str]) -> str:
    return f"{match['state']} {spelled(match['office'])} {match['series']} {spelled(match['digits'])}"


def _exponent(match: re.Match[str]) -> str:
    exponent = match["plain"] or match["raised"].translate(_SUPERSCRIPTS)
    return " की घात " + ("माइनस " if exponent[0] == "-" else "") + exponent.lstrip("-")


def _fraction(match: re.Match[str]) -> str:
    return _FIXED.get(match.group()) or fraction(match["top"], match["bottom"])


def _spaced(match: re.Match[str]) -> str:
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    return (" " if before.isalnum() else "") + number(match.group()) + (" " if after.isalnum() else "")
