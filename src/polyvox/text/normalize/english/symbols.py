"""Signs that stand for words: of arithmetic, of the keyboard, of print."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import number, ordinal, spelled
from polyvox.text.tracked import TrackedText

_WORDS: Final = {
    "&": "and",
    "@": "at",
    "%": "percent",
    "‰": "per mille",
    "=": "equals",
    "+": "plus",
    "±": "plus or minus",
    "×": "times",
    "−": "minus",
    "÷": "divided by",
    "≈": "approximately",
    "≃": "approximately",
    "≅": "approximately",
    "≠": "not equal to",
    "≡": "is identical to",
    "≤": "less than or equal to",
    "⩽": "less than or equal to",
    "≥": "greater than or equal to",
    "⩾": "greater than or equal to",
    "≪": "much less than",
    "≫": "much greater than",
    "∞": "infinity",
    "√": "square root of",
    "∛": "cube root of",
    "∩": "intersection",
    "∪": "union",
    "∅": "the empty set",
    "⊂": "is a subset of",
    "⊆": "is a subset of",
    "⌘": "Command",
    "⌥": "Option",
    "⇧": "Shift",
    "⌃": "Control",
    "↑": "up",
    "↓": "down",
    "∑": "sum of",
    "∏": "product of",
    "∫": "integral of",
    "∂": "partial",
    "∆": "delta",
    "∇": "nabla",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "∈": "in",
    "∉": "not in",
    "∀": "for all",
    "∃": "there exists",
    "∝": "proportional to",
    "∴": "therefore",
    "→": "to",
    "↦": "maps to",
    "≜": "is defined as",
    "⇒": "implies",
    "⟹": "implies",
    "⇔": "if and only if",
    "⟺": "if and only if",
    "∥": "parallel to",
    "⊥": "perpendicular to",
    "∠": "angle",
    "△": "triangle",
    "⊃": "contains",
    "⊕": "plus",
    "∵": "because",
    "↔": "to and from",
    "°": "degrees",
    "©": "copyright",
    "§": "section",
    "¶": "paragraph",
    "№": "number",
    "$": "dollars",
    "€": "euros",
    "£": "pounds",
    "¥": "yen",
    "₹": "rupees",
    "¢": "cents",
    "\\": "backslash",
    "#": "hash",
}
_GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψω",
        (
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon "
            "phi chi psi omega"
        ).split(),
        strict=True,
    )
)
_SHORT_FORMS: Final = {
    "w/o": "without",
    "w/": "with",
    "b/c": "because",
    "w/in": "within",
    "w/e": "whatever",
    "j/k": "just kidding",
    "b/w": "between",
    "w/w": "week over week",
    "y/y": "year over year",
    "q/q": "quarter over quarter",
    "m/m": "month over month",
    "w/out": "without",
    "b/t": "between",
    "a/k/a": "also known as",
    "c/o": "care of",
    "d/b/a": "doing business as",
    "f/k/a": "formerly known as",
    "r/t": "round trip",
    "p/u": "pick up",
    "p/t": "part time",
    "f/t": "full time",
    "n/a": "not applicable",
    "o/s": "outstanding",
}
_DIGITS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")

# Whether there is anything to do: most text has letters, digits and plain marks only.
_ANY: Final = re.compile(r"\bp(?:cm|w|m)\b|[^A-Za-z0-9\s.,;:!?'\"()—…“”-]|\w\.\w|[:;][-']?[()DPpO3]|[xX]D|[A-Za-z]-")
_EMOTICON: Final = re.compile(r"(?<!\S)(?:[:;=][-'^]?[()DPpO|/\\3]|[xX]D|<3|\^_?\^)(?!\w)(?=\W|$)")
_HEART: Final = re.compile("(?<=\\bI )[❤♥💕💖🧡💛💚💙💜](?= \\w)")
_TYPED_HEART: Final = re.compile(r"(?<=[a-z!.] )<3+(?=\s*$)", re.MULTILINE)
_DECREMENT: Final = re.compile(r"(?<![\w-])([A-Za-z](?=--[\s;,.)]|--$)|[a-z]\w{0,31}(?=--[;)]))--")
_GRADE: Final = re.compile(r"(?<=\b[Aa]n )([AF])-(?=[\s.,;:!?)]|$)|(?<=\b[Aa] )([BCD])-(?=[\s.,;:!?)]|$)")
_RATING: Final = re.compile(
    r"(?<![\w./])(\d{1,2}\.\d{1,2})/((?:4|5|10)\.0|[1-9]\d{0,2})(?![\w/%]|[.,]\d| ?(?:mg|mcg|m[lL]|k?g|[cm]m|V|A|W|Hz"
    r"|ft)\b)"
)
_FIRM: Final = re.compile(r"(?<![\w&])[A-Z]{2,3}(?=&[A-Z])")
_CENTERS: Final = re.compile(
    r"(?<=\d)(?P<unit> ?(?:mm|cm|m|in\.?|\"|″|millimeters|centimeters|meters|inches))? ?(?:c/c|o/c|ctrs)(?![\w/])"
)
_TOP_GRADE: Final = re.compile(r"(?:(?<![\w*])|(?<=[A*]))A\*(?=[A-E*]*(?:[\s,;.:)/–-]|$))")
# The hidden figures of an account before its last.
_MASKED: Final = re.compile(r"(?<!\w)\*{2,}[ -]?(?:\*{4}[ -]?)*(?P<last>\d{4})(?![\w*])")
_GRADES_TO: Final = re.compile(r"(?<=A-star ) ?[-–] ?(?=[A-G](?!\w))")
_HALF_TIME: Final = re.compile(r"(?:(?<=\bat )|(?<=\bby )|(?<=\bafter ))h/t(?![\w/])")
_AIR: Final = re.compile(r"(?<![\w/])[aA]/[cC](?![\w/])")
_BECOMES: Final = re.compile(r"(?<=[\w%°)])(?: ?-{1,2}> ?)(?=[$€£]?-?\.?\d)")
_DECORATION: Final = re.compile(r"([=#%$&@^~+|\\*/<>])\1{2,}")
_ARROW: Final = re.compile(r" ?(?:<?-{1,2}|=)> ?")
_COMPARING: Final = re.compile(r"/[cC]\b|[#~∼<>=›→*+^]|//|[\w)] % \d| (?:Esc|Del)\b")
_COMPARISON: Final = re.compile(r" ?(<=|>=|!=|===?|~=) ?")
_COMPARISONS: Final = {
    "<=": "less than or equal to",
    ">=": "greater than or equal to",
    "!=": "not equal to",
    "==": "equals",
    "===": "equals",
    "~=": "about equals",
}
_SHORT_FORM: Final = re.compile(
    r"(?<![\w/])(?:[wW]/(?:o|in|out|e)(?!\w)|[wW]/(?![vwDLHR]\b)(?=[ \w])"
    r"|(?:b/[cwt]|[cC]/[oO]|[adf]/[bk]/a|[rpf]/t|p/u|n/a|N/A|w/w|y/y|q/q|m/m|j/k|o/s)(?![\w/]))"
)
_PER: Final = re.compile(
    r"(?:(?P<left>\b[A-Za-z]{1,24}|[%€$£])|(?<=\d))/(?P<each>second|minute|hour|day|night|week|month|year|person|user"
    r"|head|"
    r"piece|unit|acre|game|household|guest|customer|student|pupil|employee|member|patient|mile|gallon|pound|ounce"
    r"|share|"
    r"serving|capita|room|seat|ticket|visit|session|class|trip|call|request|order|page|word|item|side|set|barrel|"
    r"vehicle|family|dose|transaction|account|pack|passenger|sq)(?!\w)"
)
# A rate behind a sum: "£600 p/m", "£950 pcm".
_RATE: Final = re.compile(
    r"(?P<sum>\b(?:pounds?|pence|euros?|dollars?|cents|rupees|thousand|hundred|K) )(?:p/(?P<each>[hwmda])"
    r"|(?P<calendar>pcm)|(?P<week>pw)|(?P<month>pm))(?!\w)"
)
_EACH: Final = {"h": "hour", "w": "week", "m": "month", "d": "day", "a": "annum"}
_ACCOUNT: Final = re.compile(
    r"(?<![\w/])(?:(?<=[Bb]ank )|(?<=[Ss]avings )|(?<=[Cc]urrent )|(?<=[Cc]hecking )|(?<=[Jj]oint )|(?<=[Bb]usiness )"
    r"|(?<=from )|(?<=into )|(?<=debit )|(?<=credit )|(?<=trade )"
    r"|(?=[aA]/[cC]s? (?:no|number|name|holder|payee|payable|ending|balance|type|details|opened|closed|overdrawn"
    r"|with)\b)|(?=[aA]/[cC] ?\d{4}))"
    r"(?P<first>[aA])/[cC](?![\w/])"
)
_SORT_CODE: Final = re.compile(r"(?<![\w/])(?P<first>[sS])/[cC](?=:? ?\d\d-?\d\d-?\d\d(?!\d))")
_LETTERS: Final = re.compile(r"(?<![\w/])(?P<first>[A-Z])/(?P<last>[A-Z])(?![\w/])")
_COUNTED_PER: Final = re.compile(
    r"(?<![\w.,])\d[\d.,]*\+? (?:[a-z-]{2,16} )?(?P<left>[a-z]{2,16}s)/(?=[a-z]{3,16}(?![\w/]))"
)
_LIMIT: Final = re.compile(r"(?<=\d)/(?=[a-z]{3,16}(?![\w/(]))")
_CONTRAST: Final = re.compile(
    r"(?:day|night|week|month|year|hour|minute|second|head|person|user|group|guest|student|member|class|call|page"
    r"|word|item|side|"
    r"set|room|seat|trip|session|visit|order|request|and|or|he|she|his|her|pound|mile|gallon|ounce|barrel|customer"
    r"|employee|patient|"
    r"game|team|client|friend|staff|faculty|text|chat|email|phone|video|file|parent|teacher|front|back|left|right"
    r"|line|menu|vendor|"
    r"product|service|style|brand|color|size|list|post|comment|section|chapter|char|character|term|phrase|date|time|one)",
    re.IGNORECASE,
)
_BELOW: Final = re.compile(
    r"(?<=[a-z]\d)/(?=[a-z]²)|(?<=[)²³π])/(?=[\da-z(])|(?<=[∆Δ][a-z])/(?=[∆Δ])|(?<=squared)/(?=\d)"
)
_QUOTIENT: Final = re.compile(r"(?<![A-Za-z/][A-Za-z])(?<=[A-Za-zα-ωΑ-Ω])/(?=[A-Za-zα-ωΑ-Ω](?![\w/])|[α-ω]\d)")
_CONDITIONS: Final = re.compile(r"(?<=[)\w]) ?\|\| ?(?=[\w(!])")
_NOT: Final = re.compile(r"(?<![\w!?.])!(?=[A-Za-z(])")
_OUT_OF: Final = re.compile(r"(?<=\d) / (?=100?(?!\w|[.,]\d))")
_MODULO: Final = re.compile(r"(?:(?<=\d)|(?<=\b[a-z])|(?<=\))) % (?=\d)")
_ALTERNATIVE_SIGN: Final = re.compile(r"(?<=\d)/[-−](?=\d)")
_DIVISION: Final = re.compile(r"(?<=\d) / (?=\d)")
_SLASH: Final = re.compile(r"(?<!\d) ?/+ ?|/+ ?(?!\d)")
_NEAR: Final = 12
_SUPERSCRIPT: Final = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ]+|[⁺⁻]")
_FUNCTION: Final = re.compile(r"\b(?:sine|cosine|tangent|log)\Z")
_POWER: Final = re.compile(
    r"(?<=[\w)]) ?\^ ?(?P<sign>[+-]?)(?:(?P<digits>\d{1,6})(?!\w|\.\d)|(?=[A-Za-z(])(?!(?<= )[A-Za-z]{2}))"
)
_VARIABLE_SIGN: Final = re.compile(r"\$(?=[{(]?[A-Za-z_])")
_HIDDEN_SHARE: Final = re.compile(r"(?<=[a-z]{2})\$(?!\w)")
_NUMBER_SIGN: Final = re.compile(r"(?<![A-Za-z])#(?= ?\d)")
_NEGATED: Final = re.compile(r"(?<![\w)-])[-−](?=[A-Za-z](?![A-Za-z]))")
_SHARP: Final = re.compile(r"(?<=\b[A-G])[#♯](?![A-Za-z_])")
_FLAT: Final = re.compile(r"(?<=\b[A-G])[♭♮](?!\w)")
_SIMILAR: Final = re.compile(r"(?<=[\w)!]) ~ (?=[√\w(])")
_ABOUT: Final = re.compile(r"(?<![~∼\w])[~∼]++ ?(?=[$€£]?\d)")
_LESS: Final = re.compile(r" ?<(?= ?[$€£]?-?\.?\d)|(?<=[\w)|] )<(?= )")
_TAKEN: Final = re.compile(r"(?<=\([a-z])[-−](?=\d)|(?<=\(\d)[-−](?=[a-z]\))|(?<== [a-z])[-−](?=\d(?!\d))")
_DIGITS_END: Final = re.compile(
    r"(?P<lead>\b(?:PIN|[Pp]in|[Cc]ode|[Pp]asscode|ID|press|dial|enter)(?:'s| is| was)?[: ]{1,2})"
    r"(?P<digits>\d{1,10})#(?!\w)"
)
_KEYED: Final = re.compile(r"(?<![\w.,:#$€£*/-])\d{4,10}#(?!\w)")
_VARIABLE: Final = re.compile(r"(?<![\w'’.])a(?= ?(?:[<>!=]=|\+(?!\d)|[<>=^²³≤≥≠≈∈]))")
"""The one letter that would be read as an article."""
_MENU: Final = re.compile(r"(?<=[\w)\]…]) ?[>›»→] ?(?=[\"“*_]{0,2}[A-Z])")
_CHOSEN: Final = re.compile(
    r"\b(?:choose|click|go(?:es)? to|in|menu|navigate|open|press|select|tap|under|via|Settings|File|Edit|View|Tools)\b",
    re.IGNORECASE,
)
_GREATER: Final = re.compile(r" ?>(?= ?[$€£]?-?\.?\d)|(?<=[\w)|] )>(?= )")
# Operators of programs between names or figures, and signs that are pressed on a telephone.
_RAISED: Final = re.compile(r"(?<=[\w)])\*\*(?=[\w(])")
_OPERATOR: Final = re.compile(r"(?<=[\w)])(?:\*(?=[A-Za-z0-9(](?![A-Za-z]))|//(?=\w(?![A-Za-z])))")
_TILDE: Final = re.compile(r"(?<=[A-Z0-9])~(?=\d)")
_PRESSED: Final = re.compile(
    r"(?:(?<=[\w:,] )|(?<=[(“\"])|^)(?P<first>\*#|[*#])(?P<digits>\d{1,8})(?P<last>[#*])?(?![\w*#])"
)
_NUMBER_WORD: Final = re.compile(r"(?<=[a-z./] )#(?=[.,;:)]?(?:\s|$))")
_POUND_KEY: Final = re.compile(r"(?:(?<=\b[Pp]ress )|(?<=\bpress the )|(?<=\bhit ))#(?=\W|$)")
_DIALLED: Final = re.compile(r"\b(?:call|dial|enter|key|press|punch|type)\b", re.IGNORECASE)
_KEY: Final = re.compile(
    r"(?:(?<=\+)|(?<= \+ )|(?<=\b[Pp]ress )|(?<=\b[Hh]old )|(?<=\b[Hh]it )|(?<=\b[Tt]he ))"
    r"(?P<key>Del|Esc|Ins|PgUp|PgDn|PrtScn?|Bksp)(?!\w)"
)
_KEYS: Final = {
    "Del": "Delete",
    "Esc": "Escape",
    "Ins": "Insert",
    "PgUp": "Page Up",
    "PgDn": "Page Down",
    "PrtSc": "Print Screen",
    "PrtScn": "Print Screen",
    "Bksp": "Backspace",
}
_ASSIGNED: Final = re.compile(r"(?<=[\w\]]) ?(?P<sign>[-+*/])= ?(?=[\w.(\"'-])")
_ASSIGNMENTS: Final = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
# "COUNT(*)", and the best mark of a British school.
_ARGUMENT_STAR: Final = re.compile(r"(?<=\w)\(\*\)")
# All columns of a query, or the sign that stands for any name.
_WILDCARD: Final = re.compile(
    r"(?:(?<=\bSELECT )|(?<=\bselect )|(?<=\bDISTINCT )|(?<=\bimport )|(?<=\bRETURNING )|(?<=\bEXPLAIN ))\*(?![\w*])"
    r"|(?:(?<=\w )|(?<=[`'\"“‘(]))\*(?=[`'\"”’]? (?:as an?|glob|character|is an? (?:glob|wildcard)|matches|means"
    r"|operator|patterns?|selects|sign|symbol|wildcards?)\b)"
    r"|(?:(?<=\bwildcard )|(?<=\basterisk )|(?<=\bglob ))[(`'\"“]?\*(?=[)`'\"”,.;:]|\s|$)"
    r"|(?<=\bSELECT [a-z]\.)\*(?![\w*])"
)
_STARRED: Final = re.compile(r"(?<![\w*])A\*(?P<many>s)?(?![\w*(]|\*)")
_GRADED: Final = re.compile(
    r"\b(?:GCSEs?|A[- ][Ll]evels?|grades?|graded|[Mm]aths|predicted|exams?|pupils?|students?|results|UCAS|sixth)\b"
)
_ALL: Final = re.compile(r"(?<=[A-Z]{2}) \* (?=[A-Z]{2})")
_PRODUCT: Final = re.compile(r"(?<=\d) ?[*·⋅∙] ?(?=\d)|(?<=[\w)]) \* (?=[\w(])")
# A spaced hyphen subtracts between single letters and figures, and between words where the sum is told behind them.
_DIFFERENCE: Final = re.compile(
    r"(?:(?<![A-Za-z][A-Za-z])(?<=[A-Za-z\d])|(?<=\))|(?<=squared )|(?<=cubed )) - "
    r"(?=(?:[A-Za-z]|[\d(][\d.,()]*)(?![A-Za-z])[^\n]{0,24})"
    r"|(?:(?<=squared )|(?<=cubed )) - "
    r"(?=[\d(]|[A-Za-z](?![A-Za-z])|[a-z]{3,9} [A-Z](?![A-Za-z]))|(?<=[\w)]) - (?=[A-Za-z]{2,}[^\n=]{0,20}=)"
)
_WORD_BEHIND: Final = re.compile(r"[a-z]+")
_LAST_WORD: Final = re.compile(r"[A-Za-z]+(?=[\W_]{0,3}$)")
_SECTIONS: Final = re.compile("§{2} ?")
_BLANK: Final = re.compile(r"_{3,}")
_SEPARATOR: Final = re.compile(r" ?[|•·‣◦▪●■]+ ?")
_GREEK_LETTER: Final = re.compile(r"(?<![^\W\d_])[α-ωΑ-Ωµ](?![^\W\d_])")
# A capital that changes or is summed keeps its letter: "ΔG", "TΔS".
_GREEK_BESIDE: Final = re.compile(r"(?P<before>(?<=[A-Za-z]))?[ΔΣΩΦΨ∆](?P<behind>(?=[A-Za-z]))?")
_STANDARD: Final = re.compile(r"(?:(?<=\b[A-Z])|(?<=[ΔA-Z][A-Z]))[°º⦵](?![A-Za-z\d])")
_NEXT_SENTENCE: Final = re.compile(r"(?<=[a-z])\.(?=[A-Z][a-z])")
_DOT: Final = re.compile(r"(?<=[A-Za-z0-9)])\.(?=[a-z])")
_POWER_LESS: Final = re.compile(r"(?:(?<=\^\d)|(?<=\^\d\d)|(?<=\^[a-z])) ?[-−–] ?(?=\d)")
_NUMBERS_TO: Final = re.compile(r"(?<=\d)(?: ?[-–] ?)#(?=\d)")
_SIGN: Final = re.compile("([" + "".join(re.escape(sign) for sign in _WORDS) + "])&?")


def read_comparisons(text: TrackedText) -> TrackedText:
    """Signs that say something of the figure behind them, whatever that figure is: "~25%", "<$5", "#1"."""
    if _COMPARING.search(text.text) is None:
        return text
    if "->" in text.text:
        text = text.sub(_BECOMES, " to ")
    if "*" in text.text:
        text = _stars(text)
    if "/c" in text.text or "/C" in text.text:
        text = text.sub(_ACCOUNT, lambda match: f"{match['first']}ccount")
        text = text.sub(_SORT_CODE, lambda match: f"{match['first']}ort code")
    if "*" in text.text or "//" in text.text:
        text = text.sub(_RAISED, "^").sub(_OPERATOR, _operator)
    if "^" in text.text:
        text = text.sub(_POWER_LESS, " minus ")
    if "#" in text.text:
        text = text.sub(_NUMBERS_TO, " to ")
        text = text.sub(_POUND_KEY, "pound").sub(_NUMBER_WORD, "number")
    text = text.sub(_PRESSED, _pressed).sub(_KEY, lambda match: _KEYS[match["key"]]).sub(_TILDE, _tilde)
    if "#" in text.text:
        text = text.sub(_DIGITS_END, lambda match: f"{match['lead']}{spelled(match['digits'])} pound")
        text = text.sub(_KEYED, lambda match: f"{spelled(match.group()[:-1])} pound")
    if "=" in text.text:
        text = text.sub(_TAKEN, " minus ")
    text = text.sub(_ALTERNATIVE_SIGN, ", minus ").sub(_MODULO, " mod ")
    text = (
        text.sub(_VARIABLE, "A")
        .sub(_TYPED_HEART, "")
        .sub(_NUMBER_SIGN, "number ")
        .sub(_SIMILAR, " approximately ")
        .sub(_ABOUT, "about ")
    )
    text = text.sub(_ASSIGNED, lambda match: f" {_ASSIGNMENTS[match['sign']]} equals ").sub(_MENU, _menu)
    text = text.sub(_COMPARISON, lambda match: f" {_COMPARISONS[match[1]]} ")
    return text.sub(_LESS, " less than ").sub(_GREATER, " greater than ")


def _stars(text: TrackedText) -> TrackedText:
    """Stars that are named: of the best grade, and of a call's arguments."""
    text = text.sub(_MASKED, _masked) if "**" in text.text else text
    text = text.sub(_TOP_GRADE, "A-star ").sub(_GRADES_TO, " to ").sub(_ARGUMENT_STAR, " star").sub(_WILDCARD, "star")
    return (
        text.sub(_STARRED, lambda match: "A-stars" if match["many"] else "A-star")
        if _GRADED.search(text.text)
        else text
    )


def _masked(match: re.Match[str]) -> str:
    """ "****4412"."""
    said = match.string.endswith(("ending ", "ending in "), 0, match.start())
    return ("" if said else "ending in ") + spelled(match["last"])


def read(text: TrackedText) -> TrackedText:
    """Signs as words, where they mean something; decoration is left for the tidying to drop."""
    if _ANY.search(text.text) is None:
        return text
    if "||" in text.text or "&&" in text.text:
        text = text.sub(_CONDITIONS, " or ").sub(_NOT, "not ")
    text = text.sub(_RATE, _rate)
    if "--" in text.text:
        text = text.sub(_DECREMENT, r"\1 minus minus")
    text = text.sub(_HEART, "love").sub(_GRADE, _grade)
    text = text.sub(_EMOTICON, "").sub(_DECORATION, " ").sub(_ARROW, " to ")
    text = (_slashes(text) if "/" in text.text else text).sub(_FIRM, lambda match: ".".join(match.group()))
    text = text.sub(_SUPERSCRIPT, _superscript).sub(_POWER, _power)
    text = (
        text.sub(_NEGATED, _negated)
        .sub(_SHARP, " sharp")
        .sub(_FLAT, lambda match: " flat" if match.group() == "♭" else " natural")
        .sub(_ALL, " star ")
        .sub(_PRODUCT, " times ")
        .sub(_DIFFERENCE, _difference)
    )
    if "$" in text.text:
        text = text.sub(_VARIABLE_SIGN, "dollar ").sub(_HIDDEN_SHARE, " dollar")
    text = text.sub(_SECTIONS, "sections ").sub(_BLANK, " blank ").sub(_SEPARATOR, ", ")
    if not text.text.isascii():
        text = text.sub(_STANDARD, " naught").sub(_GREEK_BESIDE, _greek_beside)
    text = text.sub(_GREEK_LETTER, lambda match: f" {_GREEK.get(match.group().lower(), 'micro')} ")
    text = text.sub(_NEXT_SENTENCE, ". ").sub(_DOT, " dot ")
    return text.sub(_SIGN, lambda match: f" {_WORDS[match[1]]} ")


def read_ratings(text: TrackedText) -> TrackedText:
    """ "4.7/5": to be read before the decimals lose their point."""
    return text.sub(_RATING, _rating)


def _rating(match: re.Match[str]) -> str | None:
    return f"{number(match[1])} out of {number(match[2])}" if float(match[1]) <= float(match[2]) else None


def _menu(match: re.Match[str]) -> str | None:
    """The sign between the steps of a menu, "Settings > Account"; between single letters it compares."""
    before = _LAST_WORD.search(match.string[max(0, match.start() - 24) : match.start()])
    following = match.string[match.end() : match.end() + 2].strip('"“*_')
    if "→" in match.group() and _CHOSEN.search(match.string, max(0, match.start() - 64), match.start()) is None:
        return None
    named = before is not None and not before[0].islower() and len(before[0]) > 1
    return ", " if named and following[1:].isalpha() else None


def _operator(match: re.Match[str]) -> str:
    return " times " if match.group() == "*" else " slash slash "


def _pressed(match: re.Match[str]) -> str | None:
    """A code that begins with a sign of the telephone: "dial star six seven"."""
    closed = match["first"] != match["last"] == "#"
    if not closed and _DIALLED.search(match.string, max(0, match.start() - 3 * _NEAR), match.start()) is None:
        return None
    signs = {"*": "star", "#": "pound", "*#": "star pound", None: ""}
    if match["first"] == "#" and not match["last"]:
        return None
    return f"{signs[match['first']]} {spelled(match['digits'])} {signs[match['last']]}".rstrip()


def _tilde(match: re.Match[str]) -> str:
    """Between figures the ends of a range; behind a name the sign itself, as in "HEAD~3"."""
    return " to " if match.string[match.start() - 1].isdigit() else " tilde "


def _grade(match: re.Match[str]) -> str:
    return f"{match[1] or match[2]} minus"


def _slashes(text: TrackedText) -> TrackedText:
    """Short forms, rates, paths and divisions; any other slash joins two words without a sound."""
    text = text.sub(_HALF_TIME, "half time").sub(_AIR, "A.C").sub(_CENTERS, r"\g<unit> on center")
    text = text.sub(_SHORT_FORM, lambda match: _SHORT_FORMS[match.group().lower()] + " ")
    text = text.sub(_SHORT_FORM, lambda match: _SHORT_FORMS[match.group().lower()] + " ").sub(_QUOTIENT, _quotient)
    text = text.sub(_LETTERS, r"\g<first>.\g<last>")
    text = text.sub(_PER, _per).sub(_COUNTED_PER, _counted_per).sub(_LIMIT, " per ").sub(_BELOW, " over ")
    return text.sub(_OUT_OF, " out of ").sub(_DIVISION, " divided by ").sub(_SLASH, " ")


def _rate(match: re.Match[str]) -> str:
    if match["each"]:
        return f"{match['sum']}per {_EACH[match['each']]}"
    if match["calendar"]:
        return f"{match['sum']}per calendar month"
    return f"{match['sum']}per {'week' if match['week'] else 'month'}"


def _quotient(match: re.Match[str]) -> str | None:
    """ "x/n" in a formula; two letters elsewhere stand side by side."""
    around = match.string[max(0, match.start() - _NEAR) : match.end() + _NEAR]
    return " over " if any(sign in around for sign in ("=", "≈", "equals", "→", "√")) else None


def _greek_beside(match: re.Match[str]) -> str | None:
    if match["before"] is None and match["behind"] is None:
        return None
    return f" {'delta' if match.group() == '∆' else _GREEK[match.group().lower()]} "


def _per(match: re.Match[str]) -> str | None:
    """A rate; two things of one kind are a choice, "day/night"."""
    left = match["left"] or ""
    if _CONTRAST.fullmatch(left):
        return None
    return f"{left} per {match['each']}"


def _counted_per(match: re.Match[str]) -> str | None:
    """ "31 points/game"; two plurals are a choice."""
    following = _WORD_BEHIND.match(match.string, match.end())
    if following is None or (following[0].endswith("s") and not following[0].endswith("ss")):
        return None
    return f"{match.group()[:-1]} per "


def _negated(match: re.Match[str]) -> str | None:
    """The minus before a letter, where an equation is near."""
    around = match.string[max(0, match.start() - _NEAR) : match.end() + _NEAR]
    return "minus " if "=" in around or "equals" in around else None


def _difference(match: re.Match[str]) -> str | None:
    """A minus where an equation is near, on either side."""
    around = match.string[max(0, match.start() - 3 * _NEAR) : match.end() + 2 * _NEAR]
    return " minus " if "=" in around or "equal" in around else None


def _superscript(match: re.Match[str]) -> str:
    """A power after a figure or a single letter; after a word it marks a footnote, which is not read."""
    figures = match.group().translate(_DIGITS)
    before = match.string[max(0, match.start() - 2) : match.start()]
    formula = "=" in match.string[max(0, match.start() - _NEAR) : match.end() + _NEAR]
    function = _FUNCTION.search(match.string, max(0, match.start() - 8), match.start()) is not None
    single = before[-1:].isalpha() and not (before[:-1].isalpha() and before[:-1].isascii())
    if (
        before[-1:].isdigit()
        or before.endswith((")", "∇"))
        or single
        or function
        or (formula and before[-1:].isalpha())
    ):
        return _raised(figures[0] if figures[0] in "+-" else "", figures.lstrip("+-"))
    return "" if before[-1:].isalpha() else figures.replace("n", " n ").replace("-", "")


def _power(match: re.Match[str]) -> str:
    return _raised(match["sign"], match["digits"] or "")


def _raised(sign: str, exponent: str) -> str:
    if sign and not exponent:
        return f" {'minus' if sign == '-' else 'plus'} "
    if not sign and exponent in ("2", "3"):
        return " squared " if exponent == "2" else " cubed "
    if not exponent.isdigit():
        return f" to the {'minus ' if sign == '-' else ''}{exponent} ".replace("  ", " ")
    if sign == "-" or exponent == "0":
        return f" to the {'minus ' if sign else ''}{number(exponent)} "
    return f" to the {ordinal(exponent)} "
