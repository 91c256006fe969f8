"""Rules of forms in context that several languages join: one pattern, with the words of each."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from polyvox.text.normalize.romance.language import Rule

OPUS: Final[Rule] = (
    "op. Op. opp. Opp.",
    re.compile(r"(?<![\w./-])(?<!\bde )[Oo]pp?\. ?(?=\d{1,3}(?![\d/]| ?%|[.,]\d))"),
    "opus ",
)
# Of Spanish and Portuguese, which say these alike.
THOUSANDS: Final[Rule] = (
    "K k",
    re.compile(
        r"(?<=\d)(?<! [2458])[kK](?= (?:de )?(?!m[aá]i?s|tras|pues|menos|depois|antes|gracias"
        r"|seus)[a-zà-ÿ]{4,}s(?!\w))"
    ),
    " mil",
)
GEARS: Final[Rule] = (
    "v.",
    re.compile(r"((?:[Bb]ici|[Bb]ike|MTB|Shimano|[Aa]ro \d|[Cc]uadro).{0,80}?\d{1,2}) ?v\.(?=[,;)]| \w)"),
    r"\1 velocidades",
)
EXTREMES: Final[tuple[Rule, ...]] = (
    (
        "ín",
        re.compile(r"(?<!\w)[Mm]áx\.? ?(-?\d{1,2})([º°]?C?) ?/ ?[Mm]ín\.? ?(-?\d{1,2})([º°]?)"),
        r"máxima \1\2, mínima \3\4",
    ),
    (
        "ín",
        re.compile(r"(?<!\w)[Mm]ín\.? ?(-?\d{1,2})([º°]?C?) ?/ ?[Mm]áx\.? ?(-?\d{1,2})([º°]?)"),
        r"mínima \1\2, máxima \3\4",
    ),
)
# Of French and Italian: "pT2N0M0".
TUMOUR_STAGES: Final[tuple[Rule, ...]] = tuple(
    (
        f"N{node}",
        re.compile(rf"T(?:(?<!\w.)|(?<=\b[cp].))(is|[0-4xX])([a-d]?)N{node}([a-c]?){behind}(?!\w)"),
        rf" T \1 \2 N {node} \3{words}",
    )
    for node in "0123x"
    for behind, words in (("", ""), ("M([01xX])", r" M \4"))
)


def chapters(told: str, dosed: str) -> tuple[Rule, ...]:
    """Chapters beside what is told in such, "2 temporadas, 16 caps."; capsules have a dose beside them."""
    return (
        ("caps.", re.compile(rf"((?<!\w)(?i:{told})(?!\w)[^;\n]{{0,90}}?\d )caps\.(?!\w|{dosed})"), r"\1capítulos"),
        (
            "caps.",
            re.compile(rf"(?<=\d )caps\.(?= de \d{{1,3}} ?min|[^.;\n]{{0,50}}(?<!\w)(?i:{told})(?!\w))"),
            "capítulos",
        ),
    )


def routes(subcutaneous: str, oral: str) -> tuple[Rule, ...]:
    """Routes of giving a drug: "40 mg sc", "500 mg vo"."""
    return (
        ("sc sc.", re.compile(r"(?<=(?:g|l|h|I) )sc\.?(?=[ ,;.)]|$)(?<!\d sc)"), subcutaneous),
        ("im im.", re.compile(r"(?<=m[gl] )im\.?(?=[ ,;.)]|$)"), "intramuscular"),
        ("iv iv. ev ev.", re.compile(r"(?<=m[gl] )[ie]v\.?(?=[ ,;.)]|$)"), "intravenosa"),
        ("vo vo.", re.compile(r"(?<=m[gl] )vo\.?(?=[ ,;.)]|$)"), oral),
    )


def months_until_visit(preposition: str) -> Rule:
    """Months until the next visit: "control en 3 m."."""
    return (
        "m.",
        re.compile(
            r"((?<!\w)(?:[Cc]onsulta|[Rr]ev\.|[Rr]evisión|[Cc]ontrol|[Rr]etorno|[Cc]ita"
            rf"|[Rr]evisão)(?: {preposition})?:? \d{{1,2}}) m\.(?!\w)"
        ),
        r"\1 meses",
    )


def stars(word: str) -> Rule:
    """The class of a hotel: "Hotel Sol 4*"."""
    return (
        "*",
        re.compile(
            r"((?:[Hh]otel|[Hh]ostal|[Hh]ostel|[Pp]ousada|[Rr]esort|[Aa]part|[Cc]amping|[Pp]arador"
            r"|[Aa]lojamiento|[Pp]osada|[Ll]odge|[Hh]ospeda|[Rr]estaurante"
            r"|[Ff]lat)[^*]{0,60}?(?<![\w.,*])[1-5])\*(?![\w*])"
        ),
        rf"\1 {word}",
    )


def weekdays(names: Mapping[str, str], behind: str) -> Iterator[Rule]:
    """Weekdays that are cut short without a stop, before a time: "vie a las 9"."""
    for short, name in names.items():
        first, rest = short[0], short[1:]
        pattern = rf"(?<!\w)[{first}{first.upper()}]{rest}(?= (?:{behind}|\d{{1,2}}[:h]\d?))"
        yield f"{short} {short.capitalize()}", re.compile(pattern), name


def dotted_days(before: str) -> Iterator[Rule]:
    """A day and a month with a stop between, behind words that a date follows: "le 12.03"."""
    for held, month in ((".0", "0[1-9]"), (".1", "1[0-2]")):
        pattern = rf"(?<!\w)({before}) (0?[1-9]|[12]\d|3[01])\.({month})(?=$|[ ,;)]|\.(?!\d))"
        yield held, re.compile(pattern), r"\1 \2/\3"
