"""Formulas: chemical ones letter by letter, and letters with a power."""

import re
import unicodedata
from typing import Final

from polyvox.text.normalize.english.letters import kept_apart
from polyvox.text.normalize.english.numbers import cardinal
from polyvox.text.tracked import TrackedText

ELEMENTS: Final = frozenset(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr "
    "Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt "
    "Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu".split()
)
# Compounds without a figure; other letters in mixed case are names far more often.
COMPOUNDS_WITHOUT_FIGURES: Final = frozenset(
    "AgBr AgCl AgI AlN CaO CaS CuO CuS FeO FeS GaAs GaN HBr HCl HClO HOCl KBr KCl KOH LiCl LiF LiOH MgO MnO NaBr NaCl "
    "NaClO NaF NaI NaOH NaHS PbO PbS SiC TiN ZnO ZnS BaO".split()
)
_GROUPED: Final = re.compile(
    r"(?<![\w.@#/-])(?P<first>(?:[A-Z][a-z]?\d{0,2}){1,4})\((?P<group>(?:[A-Z][a-z]?\d{0,2}){1,4})\)(?P<count>[2-9])(?![\w@])"
)
_COMPOUND: Final = re.compile(
    r"(?=[A-Z])(?:(?<![\w.@#/-])|(?<=[ (+]\d))(?:[A-Z][a-z]?\d{0,2}){2,12}(?![\w@]| \d[A-Z]{2}\b)"
)
_UNIT: Final = re.compile(r"([A-Z][a-z]?)(\d*)")
_PRODUCT: Final = re.compile(r"(?<![A-Za-z])[a-z]{2,3}(?=[²³]|\^ ?[23](?!\d))")
_SIDE: Final = re.compile(r"(?<![A-Za-z])([A-Za-z] ?= ?)([a-z]{2,3})(?![A-Za-z0-9(])")
_TERM: Final = re.compile(r"(?<=[=+*/-] )(\d{1,3})(ab|ac|as|at|ax|ay|bc|bx|gh|kx|ma|mv|xy|xz|yz)(?![A-Za-z0-9])")
_WORDS: Final = frozenset(
    "no to it me or is in on if of an as at by up us we he go do so my yes the nan pi sin cos tan log min max mod exp "
    "all any off new old one two six ten out not".split()
)
_ORDER: Final = re.compile(r"(?<![\w.])O\((?P<of>[^()\n]{1,20})\)")
_ION: Final = re.compile(
    r"(?<![A-Za-z.@#/-])(?P<formula>(?:[A-Z][a-z]?\d{0,2}){1,6})(?P<count>[²³⁴])?(?P<sign>[⁺⁻])(?!\w)"
)
_COUNTS: Final = {"²": "two ", "³": "three ", "⁴": "four "}
_FUNCTION: Final = re.compile(
    r"(?<![\w.])(?<!\w['’])(?P<name>[fghpquvyFGHP])(?P<primes>['’′]{1,3}|″)?"
    r"\((?P<of>(?:-?\d{1,3}(?:\.\d{1,2})?|[A-Za-z0-9])(?:(?:, ?| [∩∪] | given )[A-Za-z0-9])*)\)"
)
_COMPOSED: Final = re.compile(r"(?<![\w.])(?P<outer>[fghFGH])\((?P<inner>[fghuFGH]\((?:-?\d{1,3}|[A-Za-z])\))\)")
_TRIGONOMETRY: Final = re.compile(
    r"(?<![A-Za-z.])(?P<arc>arc)?(?P<name>sin|cos|tan)(?=[²³⁻(^°\dα-ωπ]| [\dα-ωπxyt](?![A-Za-z]))"
    r"|(?<![A-Za-z.])(?:ln(?=[ (][\dA-Za-z](?![A-Za-z]))|log(?P<base>\d{0,2})(?=\(|(?<=\d) ?[a-z\d](?![A-Za-z])))"
)
_FACTORIAL: Final = re.compile(
    r"(?:(?<=\b\d)|(?<=\b\d\d)|(?<=\b[nk])|(?<=\)))!(?= ?(?:[=≈~/×*+<>≤≥−)]|approximately|equals|less|greater))"
)
_GIVEN: Final = re.compile(r"(?<=P\()(?P<first>[A-Za-z]) ?\| ?(?P<last>[A-Za-z])(?=\))")
_ABSOLUTE: Final = re.compile(r"(?<![\w|])\|(?P<of>[-−]?[A-Za-z0-9][^|\n<>=]{0,16})\|(?= ?(?:[<>=≤≥]|less|greater))")
_FUNCTIONS: Final = {"sin": "sine", "cos": "cosine", "tan": "tangent"}
_PLUS_OR_MINUS: Final = re.compile(r"\+ ?/ ?[-−–] ?")
# The ends between which an integral or a sum is taken.
_BOUNDS: Final = re.compile(r"(?P<sign>[∫∑Σ∏])(?P<low>[\da-k]) ?(?P<high>[⁰¹²³⁴-⁹ⁿ∞])")
_SUMS: Final = {"∫": "the integral", "∑": "the sum", "Σ": "the sum", "∏": "the product"}
_NEAR: Final = 12
_PAIR: Final = 2
_MOST_ATOMS: Final = 12
"""More behind several letters that have no figure are a number: "COP30"."""


def read(text: TrackedText) -> TrackedText:
    """ "H2SO4", "NaCl", and the letters of "E = mc²"."""
    if any(name in text.text for name in ("sin", "cos", "tan", "ln", "log")):
        text = text.sub(_TRIGONOMETRY, _trigonometry)
    if "!" in text.text:
        text = text.sub(_FACTORIAL, " factorial")
    if "|" in text.text:
        text = text.sub(_GIVEN, r"\g<first> given \g<last>").sub(_ABSOLUTE, r"the absolute value of \g<of>")
    if "(" in text.text:
        text = (
            text.sub(_COMPOSED, r"\g<outer> of \g<inner>")
            .sub(_FUNCTION, _function)
            .sub(_ORDER, r"O of \g<of>")
            .sub(_GROUPED, _grouped)
        )
    if not text.text.isascii():
        text = text.sub(_BOUNDS, _bounds).sub(_ION, _ion)
    text = text.sub(_COMPOUND, _compound)
    if "=" in text.text or "equals" in text.text:
        text = text.sub(_PRODUCT, _product).sub(_SIDE, _side)
    return text.sub(_TERM, lambda match: f"{match[1]} {'.'.join(match[2].upper())}")


def read_tolerances(text: TrackedText) -> TrackedText:
    """ "+/-" as the sign that it stands for."""
    return text.sub(_PLUS_OR_MINUS, "±")


def _trigonometry(match: re.Match[str]) -> str:
    base = match["base"]
    name = _FUNCTIONS.get(match["name"] or "", "natural log" if base is None else "log")
    if base:
        name += f" base {cardinal(base)}"
    of = " of " if match.string.startswith("(", match.end()) else ""
    gap = "" if match.string[match.end()] in "²³⁻(^ " else " "
    return ("arc " if match["arc"] else "") + name + of + gap


def _compound(match: re.Match[str]) -> str | None:
    formula = match.group()
    units = _UNIT.findall(formula)
    figures = any(digits for _, digits in units)
    if formula not in COMPOUNDS_WITHOUT_FIGURES and (not figures or any(symbol not in ELEMENTS for symbol, _ in units)):
        return None
    if len(units) > _PAIR and not any(digits for _, digits in units[:-1]) and int(units[-1][1] or 0) > _MOST_ATOMS:
        return None
    gap = " " if match.string[match.start() - 1 : match.start()].isdigit() else ""
    return gap + _spelled(units)


def _bounds(match: re.Match[str]) -> str:
    low, high = (unicodedata.normalize("NFKC", match[end]) for end in ("low", "high"))
    return f"{_SUMS[match['sign']]} from {low} to {'infinity' if high == '∞' else high} of "


def _grouped(match: re.Match[str]) -> str | None:
    """A formula with a group that it has several times: "Ca(OH)2"."""
    units = _UNIT.findall(match["first"] + match["group"])
    if any(symbol not in ELEMENTS for symbol, _ in units):
        return None
    return f"{_spelled(units)} {cardinal(match['count'])}"


def _ion(match: re.Match[str]) -> str | None:
    """A formula and its charge: "C A two plus"."""
    units = _UNIT.findall(match["formula"])
    if any(symbol not in ELEMENTS for symbol, _ in units):
        return None
    sign = "plus" if match["sign"] == "⁺" else "minus"
    gap = " " if match.string[match.start() - 1 : match.start()].isdigit() else ""
    return f"{gap}{_spelled(units)} {_COUNTS.get(match['count'] or '', '')}{sign}"


def _function(match: re.Match[str]) -> str:
    """ "F prime of X"."""
    primes = len((match["primes"] or "").replace("″", "′′"))
    prime = ("", " prime", " double prime", " triple prime")[primes]
    return f"{match['name'].upper()}{prime} of {_argument(match['of'])}"


def _argument(of: str) -> str:
    return of.upper().replace(" GIVEN ", " given ").replace("-", "minus ")


def _spelled(units: list[tuple[str, str]]) -> str:
    words: list[str] = []
    letters = ""
    for symbol, digits in units:
        letters += symbol.upper()
        if digits:
            words += (kept_apart(letters), cardinal(digits))
            letters = ""
    return " ".join([*words, kept_apart(letters)] if letters else words)


def _side(match: re.Match[str]) -> str | None:
    """The letters of "F = ma"; a word behind the sign stays one."""
    return None if match[2] in _WORDS else match[1] + ".".join(match[2].upper())


def _product(match: re.Match[str]) -> str | None:
    """Letters that are multiplied, where an equation is near."""
    around = match.string[max(0, match.start() - _NEAR) : match.end() + _NEAR]
    return ".".join(match.group().upper()) if "=" in around or "equals" in around else None
